import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGantry, outcomeText, silentLog } from 'gantry';
import { rest } from 'gantry/rest';
import { expect, it } from 'vitest';
import { makeGantryFolder } from './fixtures/gantry-process.ts';

const startService = async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    if (request.url === '/moved') response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    else
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ saw: request.headers.authorization }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

it('reaches a private service only where its entry says so, never metadata and never itself', async () => {
  await using service = await startService();
  await using own = await startService();
  const auth = { type: 'bearer', env: 'API_TOKEN' } as const;
  await using gantry = await createGantry({ dataDir: ':memory:', log: silentLog })
    .use(
      rest({
        tools: {
          inside: { description: 'Inside.', url: `${service.url}/{id}`, auth, private: true },
          closed: { description: 'Not said to be private.', url: `${service.url}/x`, auth },
          metadata: { description: 'Metadata.', url: 'http://169.254.169.254/latest', private: true },
          itself: { description: 'Own listener.', url: `${own.url}/x`, private: true },
        },
        env: { API_TOKEN: 'tok-12345' },
        isOwnListener: (_address, port) => port === own.port,
      }),
    )
    .start();
  const inside = await gantry.call('inside', { id: 'a/b' });
  expect(inside).toMatchObject({ status: 'done', structured: { saw: 'Bearer ***' } });
  expect(outcomeText(await gantry.call('inside', { id: 'moved' }))).toMatch(
    /redirect \(HTTP 302 to 169\.254\.169\.254\)/,
  );
  expect(service.asked).toEqual(['GET /a%2Fb Bearer tok-12345', 'GET /moved Bearer tok-12345']);
  for (const [name, message] of [
    ['closed', /"private": true/],
    ['metadata', /metadata/i],
    ['itself', /listener of Gantry itself/],
  ] as const) {
    const outcome = await gantry.call(name);
    expect(outcome.status, name).toBe('failed');
    expect(outcomeText(outcome)).toMatch(message);
    expect(outcomeText(outcome)).not.toContain('tok-12345');
  }
  expect([service.asked.length, own.asked.length]).toEqual([2, 0]);
  expect(gantry.guides.find('rest')?.getDocument()).toContain('`inside`');
});

it('comes from the configuration file, which is checked, and takes its secrets from the environment', async () => {
  await using service = await startService();
  using folder = makeGantryFolder();
  folder.write('gantry.config.json', {
    rest: {
      tools: {
        look_up: {
          description: 'Looks something up.',
          url: `${service.url}/look/{word}`,
          auth: { type: 'bearer', env: 'API_TOKEN' },
          private: true,
        },
      },
    },
  });
  const call = ['tools', 'call', 'look_up', '--args', '{"word": "up"}'];
  expect(await folder.json(call, { env: { API_TOKEN: 'tok-12345' } })).toMatchObject([0, { status: 'done' }]);
  expect(service.asked).toEqual(['GET /look/up Bearer tok-12345']);
  const unset = await folder.run(call);
  expect(unset.code).toBe(1);
  expect(unset.stdout + unset.stderr).toContain('API_TOKEN');
  folder.write('gantry.config.json', {
    rest: { tools: { x: { description: 'X.', url: 'https://{host}/', methd: 'GET' } } },
  });
  const wrong = await folder.run(['config', 'check']);
  expect(wrong.code).toBe(2);
  expect(wrong.stdout + wrong.stderr).toContain('rest.tools.x.methd');
});
