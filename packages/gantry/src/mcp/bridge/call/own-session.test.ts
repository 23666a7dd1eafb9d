import { describe, expect, it } from 'vitest';
import { GantryError } from '../../../kernel/errors.ts';
import type { SessionUse } from '../../wire/sessions/older-sessions.ts';
import { openOwnSession } from './own-session.ts';

const never = new AbortController().signal;
const says = { clientInfo: {}, capabilities: { roots: {} }, logLevel: undefined };

/** A server whose sessions are counted. */
const make = (fails?: GantryError) => {
  const uses: SessionUse[] = [];
  const givenBack: string[] = [];
  const target = {
    leaseSession: async (use: SessionUse) => {
      uses.push(use);
      if (fails) throw fails;
      return { session: {} as never, giveBack: (how: string) => void givenBack.push(how) };
    },
  };
  const open = (client?: string, connection?: string) => openOwnSession(target, { client, connection, says }, never);
  return { open, uses, givenBack };
};

describe('a session of 2025 that a call has for itself', () => {
  it('is of its client and its connection, and is given back', async () => {
    const { open, uses, givenBack } = make();
    const opened = await open('a', 'c1');
    expect(uses).toEqual([{ client: 'a', session: 'c1', says, isForCall: true }]);
    opened?.[Symbol.dispose]();
    expect(givenBack).toEqual(['ended']);
  });

  it('is not had where its client has as many as it may, and fails where it cannot be opened', async () => {
    expect(await make(new GantryError('limit_reached', 'too many')).open()).toBeUndefined();
    await expect(make(new GantryError('server_unreachable', 'gone')).open('a')).rejects.toMatchObject({
      code: 'server_unreachable',
    });
  });
});
