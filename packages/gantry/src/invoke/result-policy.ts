import type { NewId } from '../kernel/ids.ts';
import { newId as randomId } from '../kernel/ids.ts';
import { chunkText } from '../text/chunker.ts';
import { chunkTitle, toOutline } from '../text/outline.ts';
import { truncateText } from '../text/truncate.ts';
import type { CallContext } from '../tool/context.ts';
import { callerRules } from '../tool/context.ts';
import type { PreparedCall } from '../tool/executor.ts';
import type { Outcome, Part, ToolReport } from '../tool/outcome.ts';
import { partsText, reportText } from '../tool/outcome-text.ts';
import type { StashText } from '../tool/ports.ts';

/** What happens to an outcome before its caller sees it. */
export type ResultPolicy = (outcome: Outcome, call: PreparedCall, context: CallContext) => Promise<Outcome>;

/** How over-long results are split. */
export interface ChunkingOptions {
  readonly stashText: StashText;
  /** The longest result, in characters, that this caller gets whole; undefined = 64,000. */
  readonly thresholdFor?: ((context: CallContext) => number | undefined) | undefined;
  readonly newId?: NewId | undefined;
}

const defaultThreshold = 64_000;
// Small chunks would cost the reader more calls than they save context.
const smallestChunkMax = 20_000;
const chunkTtlMs = 20 * 60_000;

/**
 * Splits over-long results into chunks kept in working memory and returns an index of them, for the callers whose row in
 * the table says so. Results that were stored before are never split again. Where there is nowhere to keep chunks, the
 * result is cut with a notice.
 */
export const chunkLongResults = (options: ChunkingOptions): ResultPolicy => {
  const { stashText, thresholdFor, newId = randomId } = options;

  return async (outcome, call, context) => {
    if (!callerRules[context.caller].resultChunked || context.wholeResults || call.registration.returnsStored)
      return outcome;
    const report = reportOf(outcome);
    if (!report) return outcome;
    const threshold = thresholdFor?.(context) ?? defaultThreshold;
    // A client gets parts and structured value side by side, a model gets one text.
    const text = context.caller === 'client' ? partsText(report.parts) : reportText(report);
    if (text.length <= threshold) return outcome;
    const namespace = namespaceFor(context, newId);
    const index = namespace === undefined ? undefined : await stashChunks(text, threshold, namespace, call.name);
    return withText(outcome, report, index ?? truncateText(text, threshold), context);
  };

  async function stashChunks(
    text: string,
    threshold: number,
    namespace: string,
    tool: string,
  ): Promise<string | undefined> {
    const prefix = `tool-${sanitised(tool)}-${newId().slice(0, 8)}`;
    const chunks = chunkText(text, { maxChars: Math.max(threshold, smallestChunkMax) });
    const stash = (key: string, body: string): Promise<string | undefined> =>
      stashText({ namespace, key: `${prefix}-${key}`, text: body, category: 'tool-result', ttlMs: chunkTtlMs });

    const keys: string[] = [];
    for (const chunk of chunks) {
      const key = await stash(`chunk${keys.length}`, chunk.body);
      if (key === undefined) return undefined;
      keys.push(key);
    }
    const indexKey = await stash(
      'index',
      toOutline(chunks, (index) => keys[index] as string),
    );
    if (indexKey === undefined) return undefined;

    const head =
      `Tool result for '${tool}' is large (${text.length} chars, ${lineCount(text)} lines) and has been split into ${chunks.length} chunk(s)\n` +
      `stored in working memory.\nA document outline is stored at key \`${indexKey}\` — retrieve\n` +
      `it with get_from_working_memory to navigate the content by section heading.\n` +
      `Call get_from_working_memory(key) for each relevant chunk BEFORE drawing conclusions.\n\n| # | Heading | Key |\n|---|---|---|\n`;
    return head + rowsWithin(chunks.map(chunkTitle), keys, threshold - head.length);
  }
};

const reportOf = (outcome: Outcome): ToolReport | undefined => {
  switch (outcome.status) {
    case 'done':
      return outcome;
    case 'failed':
      return outcome.failure.reported ?? { parts: [{ type: 'text', text: outcome.failure.message }] };
    case 'parked':
      return undefined;
  }
};

// The text stands for all text parts; images and links stay. Programs still get the structured value, a model would get it twice.
const withText = (outcome: Outcome, report: ToolReport, text: string, context: CallContext): Outcome => {
  const others = report.parts.filter((part) => part.type !== 'text' && part.type !== 'resource');
  const parts: Part[] = [{ type: 'text', text }, ...others];
  const shortened: ToolReport = {
    ...report,
    parts,
    structured: context.caller === 'client' ? report.structured : undefined,
  };
  switch (outcome.status) {
    case 'done':
      return { ...outcome, ...shortened };
    case 'failed': {
      const { failure } = outcome;
      return {
        status: 'failed',
        failure: { ...failure, message: text, ...(failure.reported && { reported: shortened }) },
      };
    }
    case 'parked':
      return outcome;
  }
};

// A client has no session of its own that others could not name, so its chunks lie under an unguessable one.
const namespaceFor = (context: CallContext, newId: NewId): string | undefined =>
  context.caller === 'client' ? `client/${newId()}` : context.namespace;

const sanitised = (tool: string): string => tool.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 40);

const lineCount = (text: string): number => {
  let count = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < text.length - 1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
};

const rowsWithin = (headings: readonly string[], keys: readonly string[], maxChars: number): string => {
  const rows: string[] = [];
  let used = 0;
  for (const [index, key] of keys.entries()) {
    const heading = headings[index]?.replaceAll('|', '\\|');
    const row = `| ${index} | ${heading} | \`${key}\` |`;
    used += row.length + 1;
    if (used > maxChars && rows.length > 0) {
      rows.push(`\n${keys.length - index} more chunk(s): see the outline.`);
      break;
    }
    rows.push(row);
  }
  return rows.join('\n');
};
