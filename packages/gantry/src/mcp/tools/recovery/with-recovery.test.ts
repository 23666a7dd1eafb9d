import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { silentLog } from '../../../kernel/log.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { textOutcome } from '../../../tool/outcome.ts';
import { outcomeText } from '../../../tool/outcome-text.ts';
import { toRegistration } from '../../../tool/registration.ts';
import { createRecentCalls } from './recent-calls.ts';
import type { ArgumentProvider } from './argument-provider.ts';
import { fileDefaults } from './file-defaults.ts';
import { currentTimeProvider, timeZoneProvider } from './time-providers.ts';
import { withRecovery } from './with-recovery.ts';

const session: CallContext = { caller: 'model', namespace: 'session/1' };
const reported = (text: string): Outcome => ({
  status: 'failed',
  failure: { code: 'execution_failed', message: text, retry: 'never', reported: { parts: [{ type: 'text', text }] } },
});

/** A tool that answers from a function of its arguments, and keeps what it was sent. */
const open = (answer: (args: JsonObject) => Outcome, providers: readonly ArgumentProvider[] = []) => {
  const sent: JsonObject[] = [];
  const clock = fakeClock();
  const executor = withRecovery(
    {
      execute: async ({ arguments: args }) => {
        sent.push(args);
        return answer(args);
      },
    },
    { providers, recentCalls: createRecentCalls(clock) },
  );
  const registration = toRegistration({
    name: 's__t',
    description: 'Does it. The zone says where.',
    source: 'mcp:s',
    inputSchema: { type: 'object', properties: { zone: { type: 'string', description: 'IANA' } } },
    target: { server: 's', tool: 't' },
  });
  const call = (args: JsonObject, context = session): Promise<Outcome> =>
    executor.execute({ id: '1', name: 's__t', arguments: args, registration }, context);
  return { call, sent, clock };
};
const always =
  (value: JsonObject[string]): ArgumentProvider =>
  () =>
    value;
const needs =
  (field: string, said = `Required parameter ${field}`) =>
  (args: JsonObject): Outcome =>
    field in args ? textOutcome('done') : reported(said);

describe('withRecovery', () => {
  it.each([
    'Required parameter zone',
    "'zone' is required",
    'missing required argument zone',
    'Expected field "zone"',
    'zone: must be provided',
  ])('supplies what a server misses in its words: %s', async (said) => {
    const { call, sent } = open(needs('zone', said), [always('Europe/Berlin')]);
    expect(await call({ a: 1 })).toMatchObject({ status: 'done' });
    expect(sent).toEqual([{ a: 1 }, { a: 1, zone: 'Europe/Berlin' }]);
  });

  it('reads an error out of a short object that came as an ordinary result, and nothing else', async () => {
    const { call, sent } = open(({ zone }) => textOutcome(zone ? 'ok' : '{"error":"zone is required"}'), [always('x')]);
    expect(outcomeText(await call({}))).toBe('ok');
    const data = open(() => textOutcome('{"message":"zone is required"}'), [always('x')]);
    await data.call({});
    const long = open(
      () => textOutcome(JSON.stringify({ error: 'zone is required', more: 'x'.repeat(4_096) })),
      [always('x')],
    );
    await long.call({});
    expect([sent.length, data.sent.length, long.sent.length]).toEqual([2, 1, 1]);
  });

  it('does not call again for what was sent already', async () => {
    const { call, sent } = open(() => reported('zone is required'), [always('x')]);
    expect((await call({ zone: 'y' })).status).toBe('failed');
    expect(sent).toHaveLength(1);
  });

  it('goes on to other missing fields, four at most', async () => {
    let at = 0;
    const { call, sent } = open(() => reported(`Required parameter f${(at += 1)}`), [always('x')]);
    expect(await call({})).toMatchObject({ status: 'failed' });
    expect(sent).toHaveLength(5);
    expect(Object.keys(sent.at(-1) ?? {})).toEqual(['f1', 'f2', 'f3', 'f4']);
  });

  it('calls once where nobody knows the value, and adds what helps behind the own words of the server', async () => {
    const { call } = open(needs('zone'));
    await call({ zone: 'Asia/Tokyo' });
    expect(outcomeText(await call({}))).toBe(
      [
        'Required parameter zone',
        'Schema of "zone": {"type":"string","description":"IANA"}',
        "The tool's description says: The zone says where.",
        'Calls in this session that worked:',
        '- t: {"zone":"Asia/Tokyo"}',
      ].join('\n'),
    );
  });

  it('shows no calls of other sessions or of more than an hour ago', async () => {
    const { call, clock } = open(needs('zone'));
    await call({ zone: 'a' }, { ...session, namespace: 'session/2' });
    expect(outcomeText(await call({}))).not.toContain('worked');
    await call({ zone: 'a' });
    await clock.advance(61 * 60_000);
    expect(outcomeText(await call({}))).not.toContain('worked');
  });

  it('leaves failures that are not of the tool alone', async () => {
    const failure: Outcome = {
      status: 'failed',
      failure: { code: 'timeout', message: 'zone is required', retry: 'later' },
    };
    const { call, sent } = open(() => failure, [always('x')]);
    expect(await call({})).toBe(failure);
    expect(sent).toHaveLength(1);
  });
});

describe('the providers of time', () => {
  const missing = (field: string) => ({ server: 's', tool: 't', field, schema: {} });

  it.each(['timeZone', 'timezone', 'tz', 'time_zone'])('know the zone as %s', (field) => {
    expect(timeZoneProvider(missing(field))).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone);
  });

  it('know the time, and nothing that only sounds like it', () => {
    const provide = currentTimeProvider(fakeClock(Date.UTC(2026, 4, 1)));
    expect(provide(missing('current_time'))).toBe('2026-05-01T00:00:00.000Z');
    expect(provide(missing('startTime'))).toBeUndefined();
    expect(timeZoneProvider(missing('zone'))).toBeUndefined();
  });
});

describe('fileDefaults', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gantry-defaults-'));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const open_ = () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (_facts, message) => warnings.push(message) };
    return { provide: fileDefaults({ folder, log }), warnings };
  };
  const missing = (change: object = {}) => ({ server: 's', tool: 't', field: 'region', schema: {}, ...change });
  const write = (value: unknown) => writeFile(join(folder, 's.json'), JSON.stringify(value));

  it('know what the operator wrote for a server, for one tool where it says so', async () => {
    const { provide } = open_();
    await write([
      { providerName: 'mine', field: 'region', value: 'eu', tool: 'other' },
      { providerName: 'mine', field: 'region', value: { code: 7 } },
      { providerName: 'mine', field: 'list', value: [1] },
    ]);
    expect(await provide(missing({ tool: 'other' }))).toBe('eu');
    expect(await provide(missing())).toEqual({ code: 7 });
    expect(await provide(missing({ field: 'list' }))).toBeUndefined();
    expect(await provide(missing({ server: 'nobody' }))).toBeUndefined();
    expect(await provide(missing({ server: '../s' }))).toBeUndefined();
  });

  it('notice an edit', async () => {
    const { provide } = open_();
    await write([{ providerName: 'mine', field: 'region', value: 'eu' }]);
    expect(await provide(missing())).toBe('eu');
    await write([{ providerName: 'mine', field: 'region', value: 'us' }]);
    await utimes(join(folder, 's.json'), 1, 1);
    expect(await provide(missing())).toBe('us');
  });

  it('are ignored, with one warning, when the tool has no such argument now', async () => {
    const { provide, warnings } = open_();
    await write([{ providerName: 'mine', field: 'region', value: 'eu' }]);
    const schema = { type: 'object', properties: { other: {} } };
    expect(await provide(missing({ schema }))).toBeUndefined();
    expect(await provide(missing({ schema }))).toBeUndefined();
    expect(warnings).toHaveLength(1);
  });

  it('say once that a file cannot be read, and do without it', async () => {
    const { provide, warnings } = open_();
    await writeFile(join(folder, 's.json'), '[oops');
    expect(await provide(missing())).toBeUndefined();
    expect(await provide(missing())).toBeUndefined();
    expect(warnings).toHaveLength(1);
  });
});
