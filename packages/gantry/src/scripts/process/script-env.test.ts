import { describe, expect, it } from 'vitest';
import { scriptEnv } from './script-env.ts';
import type { WorkFolder } from './work-folder.ts';

const places = { workAt: '/work', folder: {} as WorkFolder };
const request = { interpreter: 'python', script: '', timeoutMs: 1 };

describe('scriptEnv', () => {
  it('is a fixed list, the input and what is declared; nothing of the host', () => {
    const env = scriptEnv({ ...request, inputData: 'in "put"', env: { DAY: '1' } }, places);
    expect(env).toMatchObject({ HOME: '/work', TMPDIR: '/tmp', DAY: '1', GANTRY_INPUT: 'in "put"' });
    expect(Object.keys(env)).not.toContain('SHELL');
    expect(Object.keys(env)).not.toContain('PYTHONPATH');
  });

  it('has an empty input when there is none, and a path for packages when there are some', () => {
    expect(scriptEnv(request, { ...places, packages: '/p' })).toMatchObject({ GANTRY_INPUT: '', PYTHONPATH: '/p' });
  });

  it.each([
    [{ inputData: 'x'.repeat(130_000) }, /input data is larger/],
    [{ inputData: 'a\0b' }, /input data cannot be passed on/],
    [{ env: { 'A=B': '1' } }, /"A=B" cannot be passed on/],
  ])('refuses what no environment can hold (%#)', (more, message) => {
    expect(() => scriptEnv({ ...request, ...more }, places)).toThrow(message);
  });
});
