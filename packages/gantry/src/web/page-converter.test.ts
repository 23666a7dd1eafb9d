import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { silentLog } from '../kernel/log.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import type { ConvertRequest, PageConverter, PageConverterOptions } from './page-converter.ts';
import { createPageConverter } from './page-converter.ts';

const running: PageConverter[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one[Symbol.asyncDispose]();
});
const converterWith = (options: Partial<PageConverterOptions> = {}): PageConverter => {
  const converter = createPageConverter({ clock: systemClock, log: silentLog, ...options });
  running.push(converter);
  return converter;
};
const request = (text: string, more: Partial<ConvertRequest> = {}): ConvertRequest => ({
  bytes: Buffer.from(text),
  kind: 'html',
  charset: undefined,
  url: 'https://a.example/',
  mode: 'auto',
  ...more,
});
const workerOf = (code: string): URL =>
  new URL(`data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads';\n${code}`)}`);

describe('createPageConverter', () => {
  it('converts pages, JSON and texts outside the main thread', async () => {
    const converter = converterWith();
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const [page, json, broken, raw, nested] = await Promise.all([
      converter.convert(request('<h1>Hello</h1>')),
      converter.convert(request('{"a":[1]}', { kind: 'json' })),
      converter.convert(request('{"a":', { kind: 'json' })),
      converter.convert(request('<h1>Hello</h1>', { mode: 'raw' })),
      converter.convert(request(deep, { kind: 'json' })),
    ]);
    expect(nested).toEqual({ kind: 'text', text: deep });
    expect(page).toMatchObject({ kind: 'page', page: { markdown: '# Hello' } });
    expect(json).toEqual({ kind: 'text', text: '{\n  "a": [\n    1\n  ]\n}' });
    expect(broken).toEqual({ kind: 'text', text: '{"a":' });
    expect(raw).toEqual({ kind: 'text', text: '<h1>Hello</h1>' });
  });

  it('ends a thread that is stuck and answers with the bare text, then starts another', async () => {
    const clock = fakeClock();
    const worker = workerOf(
      `parentPort.on('message', ({ url }) => { if (url.endsWith('stuck')) for (;;); parentPort.postMessage({ kind: 'text', text: 'fresh' }); });`,
    );
    const warnings: unknown[] = [];
    const log = { ...silentLog, warn: (facts: unknown) => void warnings.push(facts) };
    const converter = converterWith({ clock, log, worker, timeoutMs: 5000 });
    const stuck = converter.convert(request('<p>a<script>no</script></p><p>b', { url: 'https://a.example/stuck' }));
    const next = converter.convert(request('x'));
    await clock.advance(5000);
    expect(await stuck).toMatchObject({ kind: 'text', text: expect.stringMatching(/a\s+b/) as string });
    expect(await next).toEqual({ kind: 'text', text: 'fresh' });
    expect(warnings).toHaveLength(1);
  });

  it('answers with the bare text when the thread fails', async () => {
    const worker = workerOf(`parentPort.on('message', () => { throw new Error('broken'); });`);
    const converted = await converterWith({ worker }).convert(request('<p>a</p>'));
    expect(converted).toMatchObject({ kind: 'text', text: expect.stringContaining('a') as string });
  });

  it('stops for a caller who gives up', async () => {
    const worker = workerOf(`parentPort.on('message', () => { for (;;); });`);
    const controller = new AbortController();
    const converted = converterWith({ worker }).convert(request('x'), { signal: controller.signal });
    controller.abort();
    await expect(converted).rejects.toMatchObject({ code: 'cancelled' });
  });
});
