import { expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { sessionsList } from '../../operations/sessions.ts';
import type { Gateway } from '../gateway.ts';
import { createLastingGateway } from './lasting-gateway.ts';

const away = new GantryError('execution_failed', 'nobody there', { retry: 'later' });
const broken = new GantryError('execution_failed', 'broke off');
const gateway = (url: string | undefined, run: () => unknown): Pick<Gateway, 'run' | 'url'> => ({
  url,
  run: async () => (await run()) as never,
});
const fail = (reason: Error) => (): never => {
  throw reason;
};

it('asks the gateway that is there now, when the other has gone, and from then on', async () => {
  let found = 0;
  const lasting = createLastingGateway(gateway('http://a', fail(away)), async () => {
    found += 1;
    return gateway('http://b', () => 'answer');
  });
  expect(await lasting.run(sessionsList, {})).toBe('answer');
  expect(await lasting.run(sessionsList, {})).toBe('answer');
  expect(found).toBe(1);
});

it.each([
  ['nobody else is there', 'http://a', away, undefined],
  ['the same is found', 'http://a', away, 'http://a'],
  ['something may have been done', 'http://a', broken, 'http://b'],
  ['it is this process', undefined, away, 'http://b'],
])('fails as the gateway did when %s', async (_when, url, error, other) => {
  const lasting = createLastingGateway(gateway(url, fail(error)), async () =>
    other === undefined ? undefined : gateway(other, () => 'answer'),
  );
  await expect(lasting.run(sessionsList, {})).rejects.toBe(error);
});
