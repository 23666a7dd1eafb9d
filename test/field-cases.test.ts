import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCases } from './field-cases/lib/read-cases.ts';
import { parseLoose } from './field-cases/lib/loose-value.ts';
import type { Handler, Verdict } from './field-cases/lib/verdict.ts';
import { NotCovered } from './field-cases/lib/verdict.ts';
import { countReports, describeReport, runCases } from './field-cases/run-cases.ts';

const coveredAtLeast = 86;

const inFolder = async <T>(cases: readonly object[], use: (folder: string) => Promise<T>): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-cases-'));
  try {
    await writeFile(join(folder, 'x.json'), JSON.stringify({ area: 'x', title: 'x', format: 1, cases }));
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
};

const verdictOf = (one: object, kinds?: Readonly<Record<string, Handler>>): Promise<Verdict> =>
  inFolder([{ id: 'x-1', kind: 'args', ...one }], async (folder) => {
    const [report] = await runCases(folder, { kinds });
    return report?.verdict as Verdict;
  });

describe('the field cases', () => {
  it('hold for everything that the product covers', async () => {
    const reports = await runCases(join(import.meta.dirname, 'data/field-cases'));
    expect(reports.filter(({ verdict }) => verdict.outcome === 'failed').map(describeReport)).toEqual([]);
    expect(countReports(reports).passed).toBeGreaterThanOrEqual(coveredAtLeast);
  });
});

describe('the runner', () => {
  const integer = { type: 'object', properties: { n: { type: 'integer' } } };
  const probe = { name: 'probe', inputSchema: integer };
  const blocks = [{ type: 'text', text: 'hello' }];

  it.each([
    ['args', { schema: integer, rows: [{ n: '5' }] }, { rows: [{ n: 6 }] }, '{"n":5}'],
    ['args', { schema: integer, rows: [{ n: '5' }] }, { rows: ['error'] }, '{"n":5}'],
    ['args', { schema: integer, rows: [{ n: 'x' }] }, { rows: ['{n:1} or error naming colour'] }, 'must be an integer'],
    ['tool-call', { known: ['a_b'], rows: [{ name: 'a_c' }] }, { rows: [{ error: { mentions: ['zzz'] } }] }, 'a_b'],
    ['send-tools', { provider: 'openai', tools: [probe] }, { registered: 2 }, 'came 1'],
    ['send-tools', { provider: 'openai', tools: [probe] }, { checks: [{ at: '/type', is: 'array' }] }, '"object"'],
    ['send-tools', { provider: 'openai', tools: [probe] }, { checks: [{ nowhere: ['properties'] }] }, '"properties"'],
    ['send-tools', { provider: 'openai', tools: [probe] }, { checks: [{ accepts: [{ n: 'x' }] }] }, 'integer'],
    ['send-tools', { provider: 'openai', tools: [probe] }, { checks: [{ rejects: [{ n: 1 }] }] }, 'no fault'],
    ['register-tools', { server: 's', tools: [probe] }, { callable: ['probe', 'more'] }, '["probe"]'],
    ['register-tools', { server: 's', tools: [probe] }, { callable: ['probe'], reported: [{ tool: 'probe' }] }, '[]'],
    ['tool-result', { result: { content: blocks } }, { modelSees: { contains: ['bye'] } }, 'hello'],
    ['tool-result', { result: { content: blocks } }, { isError: true }, 'false'],
    ['tool-result', { result: { content: blocks } }, { attachments: [{ mime: 'image/png' }] }, '[]'],
    ['large-result', { text: 'x'.repeat(30_000), limitChars: 20_000 }, { chunkCountMax: 1 }, 'came 2'],
    ['http-probe', { rows: [{ postInitialize: 500 }] }, { fallsBackToSse: [true] }, 'false'],
    ['http-transcript', { pages: [{ tools: ['a'] }] }, { tools: ['a', 'b'] }, '["a"]'],
    ['http-transcript', { script: [{ c: 'tools/call echo' }, { s: 500 }] }, { callOutcome: 'success' }, '500'],
    [
      'stdio-process',
      { config: { command: 'node', args: ['-e', 'console.error(1)'] }, hostEnv: { PATH: '(usual)' } },
      { stderr: '2' },
      '"1"',
    ],
  ])('says of a wrong %s what came instead', async (kind, input, wrong, came) => {
    const verdict = await verdictOf({ kind, input, expect: wrong });
    expect(verdict).toMatchObject({ outcome: 'failed' });
    expect('problems' in verdict && verdict.problems.join('\n')).toContain(came);
  });

  it('runs a turn that a person stops, as far as its calls exist', async () => {
    const input = { script: [{ o: 'person presses stop' }], calls: ['mcp http', 'mcp stdio'] };
    const within1s = { 'mcp http': 'notifications/cancelled sent', 'mcp stdio': 'notifications/cancelled sent' };
    const rest = { initializeNeverCancelled: true, reasonSent: 'none', modelHistory: 'each call says cancelled' };
    expect(await verdictOf({ kind: 'timed-transcript', input, expect: { within1s, ...rest } })).toEqual({
      outcome: 'passed',
    });
  });

  it('judges the answers of a surface without a person', async () => {
    const input = { surface: 'headless job', serverSendsAnyway: ['elicitation/create', 'no/such'] };
    const capabilities = [{ elicitation: false, sampling: false }];
    const replies = { 'elicitation/create': 'error or {action:cancel}, within 1 s', 'no/such': 'error -32601' };
    const kind = 'handshake';
    expect(await verdictOf({ kind, input, expect: { capabilities, repliesInHeadless: replies } })).toEqual({
      outcome: 'passed',
    });
    const wrong = { 'no/such': '{action:cancel}' };
    expect(await verdictOf({ kind, input, expect: { repliesInHeadless: wrong } })).toMatchObject({ outcome: 'failed' });
  });

  it('does not cover an unknown kind, a member that it does not read, or words that it cannot read', async () => {
    const input = { schema: integer, rows: [{}] };
    expect(await verdictOf({ kind: 'nothing', input: {}, expect: {} })).toMatchObject({ outcome: 'not covered' });
    expect(await verdictOf({ input, expect: { rows: [{}], later: 1 } })).toEqual({
      outcome: 'not covered',
      reason: 'the expectation has later, which this runner does not read',
    });
    expect(await verdictOf({ input, expect: { rows: ['something nice'] } })).toMatchObject({ outcome: 'not covered' });
  });

  it('never fails for a case that is only recommended', async () => {
    const wrong = { input: { schema: integer, rows: [{}] }, expect: { rows: ['error'] } };
    expect(await verdictOf({ ...wrong, level: 'should' })).toMatchObject({
      outcome: 'not covered',
      reason: expect.stringContaining('recommended only: ') as string,
    });
  });

  it('goes on after a case that cannot be run', async () => {
    const kinds: Record<string, Handler> = {
      throws: () => Promise.reject(new Error('out of paper')),
      refuses: () => Promise.reject(new NotCovered('not yet')),
      passes: async () => [],
    };
    const cases = Object.keys(kinds).map((kind) => ({ id: kind, kind, input: {}, expect: {} }));
    await inFolder(cases, async (folder) => {
      const reports = await runCases(folder, { kinds });
      expect(reports.map(describeReport)).toEqual([
        'FAILED       throws\n               the case could not be run: out of paper',
        'not covered  refuses: not yet',
        'passed       passes',
      ]);
      expect(countReports(reports)).toEqual({ passed: 1, failed: 1, 'not covered': 1 });
    });
  });

  it('writes out what is repeated and counted', async () => {
    const input = { text: ['a', { $repeat: ['bc', 2] }], names: { $range: [2, 4, 't'] } };
    await inFolder([{ id: 'x', kind: 'x', input, expect: {} }], async (folder) => {
      expect((await readCases(folder))[0]?.input).toEqual({ text: ['a', 'bcbc'], names: ['t2', 't3'] });
    });
  });

  it.each([
    ['{n:7}', { n: 7 }],
    ['[https://a.example]', ['https://a.example']],
    ['["a,b"]', ['a,b']],
    ["{tools:[a], nextCursor:'same'}", { tools: ['a'], nextCursor: 'same' }],
    ['{path:/a, deep:{on:true}}', { path: '/a', deep: { on: true } }],
  ])('reads %s as people write it', (text, value) => {
    expect(parseLoose(text)).toEqual(value);
  });
});
