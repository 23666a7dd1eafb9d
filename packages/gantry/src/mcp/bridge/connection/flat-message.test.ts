import { expect, it } from 'vitest';
import { flatMessage } from './flat-message.ts';
import { fromLostAnswer } from './lost-answer.ts';

const nested = (levels: number): object => JSON.parse(`${'{"0":'.repeat(levels)}1${'}'.repeat(levels)}`) as object;

it('a message of a server is passed on as it is where it does not nest too deep', () => {
  const message = { jsonrpc: '2.0', id: 1, result: { deep: nested(900), list: [1, [2]], none: null } } as const;
  expect(flatMessage(message, 's')).toBe(message);
});

it('an answer that nests too deep is an error, and a notice or question is nothing', () => {
  const answer = flatMessage({ jsonrpc: '2.0', id: 1, result: { deep: nested(2_000) } }, 's');
  expect(answer).toMatchObject({ id: 1 });
  expect(fromLostAnswer((answer as { error: Parameters<typeof fromLostAnswer>[0] }).error)?.message).toContain('1000');
  for (const id of [{}, { id: 2 }])
    expect(flatMessage({ jsonrpc: '2.0', ...id, method: 'm', params: { deep: nested(2_000) } }, 's')).toBeUndefined();
});
