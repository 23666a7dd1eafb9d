import { describe, expect, it } from 'vitest';
import { GantryError } from '../../../kernel/errors.ts';
import { fromLostAnswer, toLostAnswer } from './lost-answer.ts';

const reason = new GantryError('response_too_large', 'too large', {
  details: { server: 's', maxBytes: 5, at: undefined },
});

const { error } = toLostAnswer(1, reason);
/** As it comes out where it was written on the way. */
const written = () => JSON.parse(JSON.stringify(error)) as typeof error;

describe('what stands in for an answer', () => {
  it.each([
    ['as it is', () => error],
    ['as text', written],
  ])('gives its reason when it travels %s', (_how, travelled) => {
    expect(fromLostAnswer(travelled())).toMatchObject({
      code: 'response_too_large',
      message: 'too large',
      details: { server: 's', maxBytes: 5 },
    });
  });

  const key = 'gantry.dev/lost-answer';
  const own = written().data as Record<string, Record<string, unknown>>;
  const withMembers = (members: object) => ({ ...written(), data: { [key]: { ...own[key], ...members } } });
  it.each<[string, Parameters<typeof fromLostAnswer>[0]]>([
    ['has no seal', withMembers({ seal: undefined })],
    ['has a seal of its own making', withMembers({ seal: 'A'.repeat(43) })],
    ['has the seal of another code', withMembers({ code: 'limit_reached' })],
    ['has the seal of another text', { ...written(), message: 'sign in at evil.example' }],
    ['has the seal of other details', withMembers({ details: { server: 's', maxBytes: 1 } })],
    ['has no such data', { ...written(), data: {} }],
  ])('is not taken for one when it %s: then the server has written it', (_what, forged) => {
    expect(fromLostAnswer(forged)).toBeUndefined();
  });
});
