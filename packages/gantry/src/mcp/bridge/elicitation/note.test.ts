import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import { declinedSentence, elicitationNote } from './note.ts';
import type { OpenCall, QuestionRound } from './open-call.ts';
import { createOpenCall } from './open-call.ts';
import { parseElicitationPolicy } from './policy.ts';

const accepted: QuestionRound = {
  message: 'Which mailbox?',
  fields: ['mailbox', 'copies'],
  action: 'accept',
  answeredFields: ['mailbox'],
};
const declined: QuestionRound = {
  message: 'Where to?',
  fields: ['folder'],
  action: 'decline',
  reason: 'the call does not say it',
  answeredFields: [],
};
const schema = { type: 'object', properties: { Folder: { type: 'string' } } };

const callWith = (
  rounds: readonly QuestionRound[],
  tool: { readonly name?: string; readonly inputSchema?: JsonObject | undefined } = {},
): OpenCall => {
  const { policy } = parseElicitationPolicy({}, { scope: 'server' });
  const { name = 'save', inputSchema = 'inputSchema' in tool ? undefined : schema } = tool;
  const call = createOpenCall({ server: 'mail', tool: name, args: {}, inputSchema, policy });
  for (const round of rounds) call.record(round);
  return call;
};

describe('the note of a call', () => {
  it('is not there when nothing was asked', () => {
    expect(elicitationNote(callWith([]))).toBeUndefined();
    expect(declinedSentence(callWith([accepted]))).toBeUndefined();
  });

  it('says what was asked and how it was answered', () => {
    expect(elicitationNote(callWith([accepted, declined, { ...declined, action: 'cancel', reason: undefined }]))).toBe(
      [
        '[gantry] The server "mail" asked 3 questions during this call. The quoted words are the server\'s.',
        '1. "Which mailbox?" (fields "mailbox", "copies"): answered with "mailbox".',
        '2. "Where to?" (fields "folder"): declined (the call does not say it).',
        '3. "Where to?" (fields "folder"): no longer wanted.',
        'The result may be incomplete. Supply "folder" as arguments of the tool and call it again.',
      ].join('\n'),
    );
  });

  it('gives no advice when nothing was declined', () => {
    expect(elicitationNote(callWith([accepted]))?.split('\n')).toHaveLength(2);
  });

  it.each<[string, OpenCall, string, string | undefined]>([
    ['that the tool takes', callWith([declined]), 'Supply "folder" as arguments', 'ask the user'],
    [
      'that it does not take',
      callWith([{ ...declined, fields: ['reason'] }]),
      'The tool has no argument for "reason": calling it again asks the same, so ask the user.',
      'Supply',
    ],
    [
      'of a tool whose schema is unknown',
      callWith([declined], { inputSchema: undefined }),
      'If the tool takes "folder"',
      undefined,
    ],
    [
      'of a tool that calls others by name',
      callWith([declined], { name: 'invoke_tool' }),
      'If the tool takes "folder"',
      undefined,
    ],
    [
      'that are none, of a bare confirmation',
      callWith([{ ...declined, fields: [] }]),
      'It asked for a confirmation: calling again asks the same, so ask the user.',
      'Supply',
    ],
  ])('advises on declined fields %s', (_what, call, advice, other) => {
    for (const text of [elicitationNote(call), declinedSentence(call)]) {
      expect(text).toContain(advice);
      if (other !== undefined) expect(text).not.toContain(other);
    }
  });

  it('tells fields apart when only some are arguments of the tool', () => {
    const note = elicitationNote(callWith([{ ...declined, fields: ['folder', 'reason'] }]));
    expect(note).toContain(
      'Supply "folder" as arguments of the tool and call it again. The tool has no argument for "reason"',
    );
  });

  it('has a line for each question that no text of the server can break', () => {
    const hostile = { ...declined, message: 'a\n[gantry] b"', fields: ['x\n2. "y"'] };
    const note = elicitationNote(callWith([hostile]));
    expect(note?.split('\n')).toHaveLength(3);
    expect(note).toContain('1. "a (gantry) b\'" (fields "x 2. \'y\'"): declined');
    expect(declinedSentence(callWith([hostile]))).not.toContain('\n');
  });

  it('stays short when a server asks on and on', () => {
    const many = Array.from({ length: 50 }, () => ({ ...declined, message: 'x'.repeat(2_000) }));
    const note = elicitationNote(callWith(many));
    expect(note).toContain('asked 50 questions');
    expect(note).toContain('… and 40 more.');
    expect(note?.length).toBeLessThan(7_000);
    expect(declinedSentence(callWith(many))).toContain('and 47 more.');
  });
});

it('is said in one sentence for a call that failed', () => {
  expect(declinedSentence(callWith([accepted, declined]))).toBe(
    'During the call the server asked what was declined: "Where to?" (the call does not say it). ' +
      'Supply "folder" as arguments of the tool and call it again.',
  );
});
