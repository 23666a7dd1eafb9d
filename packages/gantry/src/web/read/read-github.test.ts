import { describe, expect, it } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { fakeFetch } from '../../testing/fake-fetch.ts';
import type { GithubItem } from './github-page.ts';
import { githubItemOf } from './github-page.ts';
import { createReadGithub } from './read-github.ts';

const item = githubItemOf('https://github.com/o/r/issues/1') as GithubItem;
const setUp = (answer: () => Response | Promise<Response>, token?: string) => {
  const { fetch, seen } = fakeFetch(answer);
  return { seen, read: createReadGithub({ fetch, userAgent: 'Gantry', token, log: silentLog }) };
};

describe('createReadGithub', () => {
  it('asks the API as GitHub wants to be asked, with the token where there is one', async () => {
    const { read, seen } = setUp(() => Response.json({ title: 'T', body: 'B' }), 'secret-1');
    expect((await read(item, undefined))?.title).toBe('Issue #1: T [o/r]');
    expect(seen[0]?.url.href).toBe('https://api.github.com/repos/o/r/issues/1');
    expect(Object.fromEntries(seen[0]?.headers ?? [])).toEqual({
      accept: 'application/vnd.github+json',
      'user-agent': 'Gantry',
      authorization: 'Bearer secret-1',
    });
  });

  it.each([
    ['over the rate limit', () => Response.json({ message: 'rate limit' }, { status: 403 })],
    ['not there', () => Response.json({ message: 'Not Found' }, { status: 404 })],
    ['no JSON', () => new Response('<html>')],
    ['out of reach', () => Promise.reject(new Error('connection refused'))],
  ])('leaves an item that is %s to the ordinary way', async (_what, answer) => {
    expect(await setUp(answer).read(item, undefined)).toBeUndefined();
  });

  it('does not go on for a caller who has gone', async () => {
    const { read } = setUp(() => Promise.reject(new Error('aborted')));
    await expect(read(item, AbortSignal.abort())).rejects.toThrow('aborted');
  });
});
