import { expect, it } from 'vitest';
import type { SignInCallback } from './sign-in-callback.ts';
import { listenForSignIn } from './sign-in-callback.ts';

const visit = async ({ url }: SignInCallback, query: string): Promise<[number, string]> => {
  const answer = await fetch(`${url}?${query}`);
  return [answer.status, await answer.text()];
};

it('hands on the answer to the sign-in that waits, and turns others away', async () => {
  await using callback = await listenForSignIn(0);
  expect(callback.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  expect((await visit(callback, 'state=s&code=early'))[0]).toBe(400);
  const answer = callback.answerTo('s');
  expect((await visit(callback, 'state=other&code=c'))[0]).toBe(400);
  expect((await fetch(new URL('/favicon.ico', callback.url))).status).toBe(404);
  expect(await visit(callback, 'state=s&code=c&iss=https%3A%2F%2Fas.example')).toEqual([
    200,
    'Signed in. You can close this page.\n',
  ]);
  expect(await answer).toEqual({ state: 's', code: 'c', iss: 'https://as.example' });
});

it('fails with what the server said when the sign-in was refused', async () => {
  await using callback = await listenForSignIn(0);
  const answer = callback.answerTo('s');
  expect((await visit(callback, 'state=s&error=access_denied&error_description=Not%20you'))[0]).toBe(400);
  await expect(answer).rejects.toMatchObject({ code: 'auth_required', message: expect.stringContaining('Not you') });
});

it('names the way out when the port is taken', async () => {
  await using first = await listenForSignIn(0);
  await expect(listenForSignIn(Number(new URL(first.url).port))).rejects.toMatchObject({
    code: 'port_in_use',
    message: expect.stringContaining('--port') as string,
  });
});
