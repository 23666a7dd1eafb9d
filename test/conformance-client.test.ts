import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Verdicts } from './fixtures/conformance/run-suite.ts';
import {
  countVerdicts,
  failingScenarios,
  requiredScenarios,
  runConformanceSuite,
} from './fixtures/conformance/run-suite.ts';

const program = fileURLToPath(new URL('./fixtures/conformance/bridge-client.ts', import.meta.url));
const command = `${process.execPath} --conditions=gantry-source ${program}`;

// Extensions of the authorization that Gantry does not have; no revision requires them.
const extensions = [
  'auth/client-credentials-jwt',
  'auth/enterprise-managed-authorization',
  'auth/dpop',
  'auth/dpop-nonce',
  'auth/wif-jwt-bearer',
];

describe.each(['2026-07-28', '2025-11-25'])('the bridge as a client, in the conformance suite of %s', (revision) => {
  let verdicts: Verdicts;
  beforeAll(async () => {
    verdicts = await runConformanceSuite(['client', '--command', command, '--requirements', revision]);
    console.log(`Conformance ${revision}, the bridge's client: ${countVerdicts(verdicts)}.`);
  }, 180_000);

  it('is run whole', () => {
    expect([...verdicts.keys()]).toEqual(expect.arrayContaining([...requiredScenarios(revision, 'client')]));
  });

  it('passes everything but extensions that it does not have', () => {
    expect(failingScenarios(verdicts).toSorted()).toEqual(extensions.toSorted());
  });
});
