import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { isAbandoned, ownerTag, pidNamespace } from './owner-tag.ts';

it.skipIf(process.platform !== 'linux')(
  'tells what a process has left from what one still uses, here or elsewhere',
  () => {
    const { pid } = spawnSync('/bin/true');
    const namespace = pidNamespace();
    expect(isAbandoned(`x-${ownerTag()}-abc`, 'x-')).toBe(false);
    expect(isAbandoned(`x-${namespace}-${pid}-abc`, 'x-')).toBe(true);
    expect(isAbandoned(`x-${Number(namespace) + 1}-${pid}-abc`, 'x-')).toBe(false);
    expect(isAbandoned(`y-${namespace}-${pid}-abc`, 'x-')).toBe(false);
    expect(isAbandoned('x-abc', 'x-')).toBe(false);
  },
);
