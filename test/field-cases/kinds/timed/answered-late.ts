import { delay } from '../../../../packages/gantry/src/kernel/abort.ts';
import { systemClock } from '../../../../packages/gantry/src/kernel/clock.ts';
import { isObject } from '../../../../packages/gantry/src/kernel/json.ts';
import type { JsonObject } from '../../../../packages/gantry/src/kernel/json.ts';
import { startRawServer, toolNamed, writeEvent, written } from '../../../fixtures/raw-server.ts';
import { differences, unless } from '../../lib/compare.ts';
import { callAsModel } from '../../lib/local-gantry.ts';
import { parseLoose } from '../../lib/loose-value.ts';
import { asText, listOf } from '../../lib/read-cases.ts';
import { startServed } from '../../lib/served-gantry.ts';
import type { Handler } from '../../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../../lib/verdict.ts';

/** A call in the middle of which a server asks over its session, and a person who takes longer than the call may → how both end. */
export const answeredLate: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['requestTimeoutMs', 'script']);
  refuseUnread(expect, 'the expectation', ['callOutcome', 'serverGot', 'surfaceShowsServerName']);
  const steps = listOf(input['script']).map((step) => (isObject(step) ? step : {}));
  const tool = /^tools\/call (\S+)/.exec(find(steps, 'c'))?.[1] ?? 'ask';
  const person = /^person answers after (\d+) ms: accept (\{.*\})$/.exec(find(steps, 'o'));
  const thenMs = /^result after (\d+) ms/.exec(
    steps.map(({ s }) => asText(s)).find((s) => s.startsWith('result')) ?? '',
  );
  if (!person || !thenMs) throw new NotCovered('the script cannot be read');
  const content = parseLoose(person[2] as string) as JsonObject;
  const properties = Object.fromEntries(
    Object.entries(content).map(([name, value]) => [
      name,
      { type: typeof value === 'number' ? 'integer' : typeof value },
    ]),
  );
  const replied = Promise.withResolvers<unknown>();
  await using server = await startRawServer(
    {
      'tools/list': () => ({ tools: [toolNamed(tool)] }),
      'tools/call': async (request, response) => {
        const params = { message: 'How many?', requestedSchema: { type: 'object', properties } };
        writeEvent(response, { jsonrpc: '2.0', id: 'ask', method: 'elicitation/create', params });
        await replied.promise;
        await delay(systemClock, Number(thenMs[1]));
        writeEvent(response, { jsonrpc: '2.0', id: request.id, result: { content: [{ type: 'text', text: 'done' }] } });
        response.end();
        return written;
      },
    },
    (message) => replied.resolve(isObject(message) ? message['result'] : undefined),
  );
  let shownServer = '';
  const responder = {
    answer: async ({ server: name }: { readonly server: string }) => {
      shownServer = name;
      await delay(systemClock, Number(person[1]));
      return { action: 'accept' as const, content };
    },
  };
  await using served = await startServed(
    { field: { url: server.url, elicitation: { responder: 'person', responderTimeoutMs: 0 } } },
    { defaultTimeoutMs: Number(input['requestTimeoutMs']), responders: new Map([['person', responder]]) },
  );
  await served.servers.ready();
  const { isError, text } = await callAsModel(served.gantry, { name: `field__${tool}`, arguments: {} }, []);
  return [
    ...unless(!isError === (expect['callOutcome'] === 'success'), `expected ${asText(expect['callOutcome'])}`, text),
    ...differences('the server got', await replied.promise, expect['serverGot']),
    ...('surfaceShowsServerName' in expect
      ? unless(
          (shownServer === 'field') === expect['surfaceShowsServerName'],
          "expected the server's name",
          shownServer,
        )
      : []),
  ];
};

const find = (steps: readonly Readonly<Record<string, unknown>>[], key: string): string =>
  asText(steps.find((step) => key in step)?.[key] ?? '');
