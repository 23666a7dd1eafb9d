import { describe, expect, it } from 'vitest';
import type { ElicitationPolicy } from './policy.ts';
import { parseElicitationPolicy, policyOf } from './policy.ts';

const server = (block: unknown) => parseElicitationPolicy(block, { scope: 'server', server: 'mail' });
const byDefault = (block: unknown) => parseElicitationPolicy(block, { scope: 'default' });

const usual: ElicitationPolicy = {
  mode: 'auto',
  maxPerCall: 3,
  defaults: {},
  deniedFields: [],
  responderTimeoutMs: 20_000,
  responder: undefined,
  handbackTtlMinutes: 30,
};

describe('an elicitation block', () => {
  it.each([undefined, null, {}, { defaults: null, deniedFields: null, mode: null, responder: ' ' }])(
    'that says nothing (%j) gives the usual policy',
    (block) => {
      expect(server(block)).toEqual({ policy: usual, warnings: [] });
    },
  );

  it('is read as it stands', () => {
    const block = {
      mode: 'handback',
      maxPerCall: 5,
      defaults: { mailbox: 'work' },
      deniedFields: ['accountId'],
      responderTimeoutMs: 0,
      responder: 'conversation',
      handbackTtlMinutes: 5,
    };
    expect(server(block)).toEqual({ policy: block, warnings: [] });
  });

  it('is read with names and modes in any case', () => {
    expect(server({ Mode: ' HandBack ', MAXPERCALL: 1 }).policy).toEqual({ ...usual, mode: 'handback', maxPerCall: 1 });
  });

  it.each([['autoo'], [true], [''], [{}]])('with the unknown mode %j declines, and says so', (mode) => {
    const { policy, warnings } = server({ mode });
    expect(policy.mode).toBe('decline');
    expect(warnings).toEqual([
      'The elicitation block of server "mail": "mode" must be "auto", "decline", "off", "handback"; it acts as "decline".',
    ]);
  });

  it.each<[string, unknown, Partial<ElicitationPolicy>]>([
    ['no object', 'auto', { mode: 'decline' }],
    ['a list', [], { mode: 'decline' }],
    ['denied fields that nobody can read', { deniedFields: 'accountId' }, { mode: 'decline' }],
    ['a cap that is no number', { maxPerCall: 'many' }, { maxPerCall: 0 }],
    ['a time that is no number', { responderTimeoutMs: {} }, { responderTimeoutMs: 20_000 }],
    ['a question that would be open for no time', { handbackTtlMinutes: 0 }, { handbackTtlMinutes: 30 }],
    ['defaults that are no object', { defaults: ['work'] }, { defaults: {} }],
    ['a responder that is no name', { responder: 7 }, { responder: '' }],
  ])('with %s answers less, and says so', (_what, block, policy) => {
    const parsed = server(block);
    expect(parsed.policy).toEqual({ ...usual, ...policy });
    expect(parsed.warnings).toHaveLength(1);
  });

  it('names the nearest setting for one that there is not', () => {
    expect(server({ deniedField: ['a'] }).warnings).toEqual([
      'The elicitation block of server "mail": "deniedField" is no setting and has no effect; did you mean "deniedFields"?',
    ]);
  });

  it('rounds a cap down and never below none', () => {
    expect(server({ maxPerCall: 2.9 }).policy.maxPerCall).toBe(2);
    expect(server({ maxPerCall: -1 }).policy.maxPerCall).toBe(0);
  });

  it('takes numbers that the environment gives as texts', () => {
    expect(byDefault({ maxPerCall: '0', responderTimeoutMs: ' 500 ', deniedFields: ['a', 'b'] }).policy).toEqual({
      ...usual,
      maxPerCall: 0,
      responderTimeoutMs: 500,
      deniedFields: ['a', 'b'],
    });
  });
});

describe('the default policy', () => {
  it('takes "handback" as "auto", and says so', () => {
    const { policy, warnings } = byDefault({ mode: 'Handback' });
    expect(policy.mode).toBe('auto');
    expect(warnings).toHaveLength(1);
  });

  it('refuses the responder "conversation" and puts no other in its place', () => {
    const { policy, warnings } = byDefault({ responder: 'Conversation' });
    expect(policy.responder).toBe('');
    expect(warnings).toHaveLength(1);
    expect(byDefault({ responder: 'llm' }).policy.responder).toBe('llm');
  });
});

describe('the policy of an entry', () => {
  const defaults: ElicitationPolicy = { ...usual, maxPerCall: 1, deniedFields: ['a'], defaults: { x: 1 } };

  it('is its own block alone: nothing of the default is mixed in', () => {
    expect(policyOf({ elicitation: { defaults: { y: 2 } } }, defaults)).toEqual({ ...usual, defaults: { y: 2 } });
  });

  it('is the default without a block, and whenever a model registered the server', () => {
    expect(policyOf({}, defaults)).toBe(defaults);
    expect(policyOf({ origin: 'agent', elicitation: { mode: 'handback' } }, defaults)).toBe(defaults);
  });
});
