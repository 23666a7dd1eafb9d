import { describe, expect, it } from 'vitest';
import { GantryError } from '../../../kernel/errors.ts';
import type { SessionUse } from '../../wire/sessions/older-sessions.ts';
import { createOwnSessions } from './own-session.ts';

const never = new AbortController().signal;
const says = { clientInfo: {}, capabilities: { roots: {} }, logLevel: undefined };

/** A server whose sessions are counted. */
const make = ({ isProgram = true, fails }: { isProgram?: boolean; fails?: GantryError } = {}) => {
  const uses: SessionUse[] = [];
  const givenBack: string[] = [];
  const target = {
    name: 's',
    ...(isProgram && { startProgram: () => Promise.reject(new Error('not here')) }),
    leaseSession: async (use: SessionUse) => {
      uses.push(use);
      if (fails) throw fails;
      return { session: {} as never, giveBack: (how: string) => void givenBack.push(how) };
    },
  };
  const openOwn = createOwnSessions();
  const open = (client?: string, connection?: string) => openOwn(target, { client, connection, says }, never);
  return { open, uses, givenBack };
};

describe('a session of 2025 that a call has for itself', () => {
  it('is with a program that runs no other call, and with the same one for calls that follow each other', async () => {
    const { open, uses, givenBack } = make();
    const first = await open('a');
    const second = await open('a');
    first?.[Symbol.dispose]();
    const third = await open('a');
    expect(uses.map(({ session }) => session)).toEqual(['call-0', 'call-1', 'call-0']);
    expect(givenBack).toEqual(['ended']);
    second?.[Symbol.dispose]();
    third?.[Symbol.dispose]();
  });

  it('is of one connection where the client has no name, and of one call where it has neither', async () => {
    const { open, uses } = make();
    await open(undefined, 'c1');
    await open(undefined, 'c2');
    await open();
    expect(uses.map(({ session }) => session)).toEqual(['c1/call-0', 'c2/call-0', undefined]);
  });

  it('is not had by more than four calls of a client at once where each is a program', async () => {
    const { open } = make();
    const opened = [];
    for (let count = 0; count < 4; count += 1) opened.push(await open('a'));
    expect(opened.every((one) => one !== undefined)).toBe(true);
    expect(await open('a')).toBeUndefined();
    expect(await open('b')).toBeDefined();
    opened[2]?.[Symbol.dispose]();
    expect(await open('a')).toBeDefined();
  });

  it('is any number over HTTP, as far as there may be so many', async () => {
    const { open, uses } = make({ isProgram: false });
    for (let count = 0; count < 9; count += 1) expect(await open()).toBeDefined();
    expect(uses.every(({ session }) => session === undefined)).toBe(true);
    const full = make({ fails: new GantryError('limit_reached', 'too many') });
    expect(await full.open()).toBeUndefined();
  });

  it('leaves nothing behind when it cannot be opened', async () => {
    const { open, uses } = make({ fails: new GantryError('server_unreachable', 'gone') });
    for (let count = 0; count < 5; count += 1)
      await expect(open('a')).rejects.toMatchObject({ code: 'server_unreachable' });
    expect(uses.map(({ session }) => session)).toEqual(Array(5).fill('call-0'));
  });
});
