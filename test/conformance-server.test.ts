import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startConformanceServer } from './fixtures/conformance/conformance-server.ts';
import type { Verdicts } from './fixtures/conformance/run-suite.ts';
import {
  countVerdicts,
  failingScenarios,
  requiredScenarios,
  runConformanceSuite,
} from './fixtures/conformance/run-suite.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';

// No revision requires these two. The SDK's server compares no `Mcp-Param-*` headers with arguments for handlers of its low-level class, as
// the fixture has them, and the fixture keeps no events that a stream could begin with.
describe.each([
  ['2026-07-28', ['http-custom-header-server-validation']],
  ['2025-11-25', ['server-sse-polling']],
])('the conformance suite of %s', (revision, notEnforced) => {
  let direct: Verdicts;
  let through: Verdicts;
  const open = new AsyncDisposableStack();
  afterAll(() => open.disposeAsync());

  beforeAll(async () => {
    // Two servers, so that the two runs, which change lists and hold jobs, do not meet.
    const [one, other] = await Promise.all([startConformanceServer(), startConformanceServer()]);
    open.use(one);
    open.use(other);
    const folder = open.use(makeGantryFolder());
    folder.write('mcp.json', { mcpServers: { fixture: { url: other.url } } });
    const gateway = open.use(await folder.serve());
    [direct, through] = (await Promise.all(
      [one.url, `${gateway.url}/mcp/fixture`].map((url) =>
        runConformanceSuite(['server', '--url', url, '--requirements', revision]),
      ),
    )) as [Verdicts, Verdicts];
    console.log(
      `Conformance ${revision}, direct: ${countVerdicts(direct)}; through the gateway: ${countVerdicts(through)}.`,
    );
  }, 120_000);

  it('is run whole', () => {
    expect([...through.keys()]).toEqual(expect.arrayContaining([...requiredScenarios(revision, 'server')]));
  });

  it('finds no failure in a server behind the gateway', () => {
    expect(failingScenarios(through)).toEqual(notEnforced);
  });

  it('gives the same verdicts with and without the gateway, check by check', () => {
    expect(Object.fromEntries(through)).toEqual(Object.fromEntries(direct));
  });
});
