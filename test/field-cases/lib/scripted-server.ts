import type { RawServer, Script, SeenRequest } from '../../fixtures/raw-server.ts';
import { endWith, startRawServer, toolNamed } from '../../fixtures/raw-server.ts';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { parseLoose } from './loose-value.ts';
import { asText, listOf } from './read-cases.ts';
import { NotCovered, refuseUnread } from './verdict.ts';

type Members = Readonly<Record<string, unknown>>;

/** A server that plays its side of a transcript and then behaves. */
export interface ScriptedServer extends RawServer {
  /** The requests after the first one that was answered with a failure; all of them if none was. */
  sinceFailure(): readonly SeenRequest[];
}

/** The tool that the client calls in a transcript. */
export const calledTool = (input: Members): string =>
  listOf(input['script'])
    .map((step) => (isObject(step) ? /^tools\/call (\S+)/.exec(asText(step['c']))?.[1] : undefined))
    .find((name) => name !== undefined) ?? 'echo';

/** The transcript itself, and one more for each variant that it names of an answer. */
export const variantsOf = (input: Members): readonly Members[] => {
  const script = listOf(input['script']) as readonly Members[];
  const at = script.findIndex(({ s }) => typeof s === 'string' && /^\d{3} \(variants: [\d, ]+\)$/.test(s));
  if (at < 0) return [input];
  const statuses = [...String(script[at]?.['s']).matchAll(/\d{3}/g)].map(([status]) => Number(status));
  return statuses.map((s) => ({ ...input, script: script.with(at, { s }) }));
};

/** Starts the server of a transcript: its `script` and `then`, its `pages`, or what `server` says in words. */
export const startScriptedServer = async (input: Members): Promise<ScriptedServer> => {
  const queues = queuesOf(listOf(input['script']) as readonly Members[]);
  const always = alwaysOf(input['server']);
  const laterSession = laterSessionOf(input['then']);
  const tool = calledTool(input);
  let failedAt: number | undefined;
  let sessions = 0;

  const answered =
    (method: string, plain: Script): Script =>
    (request, response) => {
      const { status, headers, body } = queues.get(method)?.shift() ??
        always.get(method) ?? { status: 200, headers: {} };
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if (status === 200 && body === undefined) return plain(request, response);
      if (status === 200) return endWith(response, status, body?.replaceAll('"$id"', JSON.stringify(request.id)));
      failedAt ??= server.seen.length;
      return endWith(response, status, body);
    };
  const initialize: Script = (_request, response) => {
    sessions += 1;
    if (!response.hasHeader('mcp-session-id'))
      response.setHeader('mcp-session-id', laterSession ?? `session-${sessions}`);
    return {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'scripted', version: '1.0.0' },
    };
  };
  const listed = pagesOf(input['pages']) ?? (() => ({ tools: [toolNamed(tool)] }));
  const server = await startRawServer({
    initialize: answered('initialize', initialize),
    'tools/list': answered('tools/list', listed),
    'tools/call': answered('tools/call', () => ({ content: [{ type: 'text', text: 'called' }] })),
    GET: answered('GET', (_request, response) => endWith(response, 405)),
  });
  return { ...server, sinceFailure: () => server.seen.slice(failedAt ?? 0) };
};

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** The answers of a script, by method, each after the request that stands before it. */
const queuesOf = (script: readonly Members[]): Map<string, Reply[]> => {
  const queues = new Map<string, Reply[]>();
  let asked: string | undefined;
  for (const step of script) {
    refuseUnread(step, 'a step', ['c', 's', 'session']);
    if ('c' in step) {
      asked = /^(initialize|tools\/list|tools\/call|GET)\b/.exec(asText(step['c']))?.[1];
      if (asked === undefined) throw new NotCovered(`the step "${asText(step['c'])}" cannot be read`);
    } else if (asked !== undefined) queues.set(asked, [...(queues.get(asked) ?? []), toReply(step['s'])]);
  }
  return queues;
};

const toReply = (said: unknown): Reply => {
  if (typeof said === 'number') return { status: said, headers: {} };
  if (!isObject(said) || typeof said['status'] !== 'number')
    throw new NotCovered(`the answer ${JSON.stringify(said)} cannot be given`);
  refuseUnread(said, 'an answer', ['status', 'headers', 'body', 'result', 'error']);
  const { status, headers = {}, result, error } = said;
  const isMessage = result !== undefined || error !== undefined;
  const body = isMessage ? { jsonrpc: '2.0', id: '$id', result, error } : said['body'];
  return {
    status,
    headers: { ...(isMessage && { 'content-type': 'application/json' }), ...(headers as Record<string, string>) },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
  };
};

/** What a server does every time, as said in words. */
const alwaysOf = (said: unknown): ReadonlyMap<string, Reply> => {
  const always = new Map<string, Reply>();
  if (said === undefined) return always;
  for (const clause of asText(said).split(/\s+and\s+|\s*,\s*/)) {
    const failing = /^(?:gives |answers )?(\d{3}) to (?:every|each) (\S+)$/.exec(clause);
    if (failing) always.set(failing[2] as string, { status: Number(failing[1]), headers: {} });
    // That is what the server does anyway.
    else if (!/^gives a new session id to (?:each|every) initialize$/.test(clause))
      throw new NotCovered(`the behaviour "${clause}" cannot be played`);
  }
  return always;
};

const laterSessionOf = (said: unknown): string | undefined => {
  if (said === undefined) return undefined;
  const session = /^server answers initialize with session (\S+) and then behaves$/.exec(asText(said))?.[1];
  if (session === undefined) throw new NotCovered(`the behaviour "${asText(said)}" cannot be played`);
  return session;
};

/** A listing in pages, each reached by the cursor of the one before, or the same page for every request. */
const pagesOf = (said: unknown): Script | undefined => {
  if (said === undefined) return undefined;
  if (typeof said === 'string') {
    const page = /^every tools\/list answers (\{.*\})$/.exec(said)?.[1];
    if (page === undefined) throw new NotCovered(`the pages "${said}" cannot be served`);
    const repeated = toPage(parseLoose(page));
    return () => repeated;
  }
  const pages = listOf(said).map(toPage);
  return ({ params }) => {
    const cursor = params?.['cursor'];
    const at = cursor === undefined ? 0 : pages.findIndex(({ nextCursor }) => nextCursor === cursor) + 1;
    return pages[at] ?? { tools: [] };
  };
};

const toPage = (page: unknown): { tools: unknown[]; nextCursor?: unknown } => {
  if (!isObject(page)) throw new NotCovered('a page is no object');
  refuseUnread(page, 'a page', ['tools', 'nextCursor']);
  return { ...page, tools: listOf(page['tools']).map((tool) => (isObject(tool) ? tool : toolNamed(asText(tool)))) };
};
