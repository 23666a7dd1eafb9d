import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

// In a process of its own: what a test runner has loaded has set the classes already.
const after = async (env: Record<string, string>, before = ''): Promise<string> => {
  const module = new URL('one-http-library.ts', import.meta.url).href;
  const program = `
    ${before}
    const { useOneHttpLibrary } = await import(${JSON.stringify(module)});
    await useOneHttpLibrary();
    const request = new Request('http://host/', { method: 'POST', body: 'said', headers: new Headers({ a: 'b' }) });
    const said = await request.text();
    const own = process.moduleLoadList.includes('NativeModule internal/deps/undici/undici');
    console.log(said, request.headers.get('a'), await Response.json([1]).text(), own ? 'of Node' : 'of the library');`;
  const args = ['--conditions=gantry-source', '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { PATH: process.env['PATH'], ...env },
  });
  return stdout.trim();
};

describe('the classes of the web', () => {
  it('are those of the library that connections use, and Node loads no other', async () => {
    expect(await after({})).toBe('said b [1] of the library');
  });

  it('stay those of Node where the environment gives its fetch a proxy', async () => {
    expect(await after({ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:9' })).toBe('said b [1] of Node');
  });

  it('stay those of Node where somebody has put a fetch of their own in its place', async () => {
    const wrapped = `const nodes = fetch; globalThis.fetch = (...given) => nodes(...given); const mine = fetch;
      process.on('exit', () => console.log(fetch === mine));`;
    expect(await after({}, wrapped)).toBe('said b [1] of Node\ntrue');
  });

  it('stay those of Node where they cannot be changed', async () => {
    expect(await after({}, 'Object.freeze(globalThis);')).toBe('said b [1] of Node');
  });
});
