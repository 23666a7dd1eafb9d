import { expect, it } from 'vitest';
import type { GuardedFetch } from '../../net/guarded-client.ts';
import { renderOverHttp } from './render-client.ts';

const page = { url: 'https://site.example/end', status: 200, title: 'T', html: '<p>x' };

const service = (answer: () => Response) => {
  const asked: { url: string; body: unknown; authorization: string | null }[] = [];
  const fetch: GuardedFetch = async (url, init) => {
    const authorization = new Headers(init?.headers).get('authorization');
    asked.push({ url: String(url), body: JSON.parse(init?.body as string), authorization });
    return answer();
  };
  return { asked, fetch };
};

it('asks the service for the page, with the time it has and the token of the service', async () => {
  const { asked, fetch } = service(() => Response.json(page));
  const render = renderOverHttp({ baseUrl: 'http://browser:8083/', fetch, timeoutMs: 5000, token: 'secret' });
  expect(await render('https://site.example/', {})).toEqual(page);
  expect(asked).toEqual([
    {
      url: 'http://browser:8083/render',
      body: { url: 'https://site.example/', timeoutMs: 5000 },
      authorization: 'Bearer secret',
    },
  ]);
});

it.each([
  [
    'a refusal',
    () => Response.json({ error: { message: 'x is refused.\nNew line' } }, { status: 403 }),
    /HTTP 403: x is refused\. New line\.$/,
  ],
  ['a failure that is no JSON', () => new Response('<html>', { status: 502 }), /HTTP 502\.$/],
  ['an answer of another shape', () => Response.json({ html: 5 }), /HTTP 200\.$/],
])('fails with the reason of the service for %s', async (_case, answer, message) => {
  const { fetch } = service(answer);
  const render = renderOverHttp({ baseUrl: 'http://browser:8083', fetch, timeoutMs: 5000 });
  await expect(render('https://site.example/', {})).rejects.toMatchObject({
    code: 'execution_failed',
    message: expect.stringMatching(message),
  });
});
