import { describe, expect, it } from 'vitest';
import { peerCapabilities, peerOf } from './peer.ts';

const ask = async () => ({});
const asks = { elicitation: { form: {} }, sampling: {}, roots: {} };
const auto = { mode: 'auto' } as const;

describe('the client behind a call', () => {
  it.each([
    ['is no client', { caller: 'model', asks } as const, ask],
    ['says nothing of what it can be asked', { caller: 'client' } as const, ask],
    ['can be asked for nothing', { caller: 'client', asks: {} } as const, ask],
    ['cannot be reached', { caller: 'client', asks } as const, undefined],
  ])('is nobody to ask when the caller %s', (_what, context, way) => {
    expect(peerOf(context, auto, way)).toBeUndefined();
  });

  it('is not asked for forms, nor is the server told, where the mode is off', () => {
    const peer = peerOf({ caller: 'client', asks }, { mode: 'off' }, ask);
    expect(peer?.asks).toEqual({ sampling: {}, roots: {} });
    expect(peer?.can('elicitation/create', {})).toBe(false);
    expect(peerOf({ caller: 'client', asks: { elicitation: {} } }, { mode: 'off' }, ask)).toBeUndefined();
  });

  it.each([
    ['elicitation/create', {}, true],
    ['elicitation/create', { mode: 'url' }, false],
    ['elicitation/create', { mode: 'toString' }, false],
    ['elicitation/create', { mode: ['form'] }, false],
    ['sampling/createMessage', { messages: [] }, true],
    ['sampling/createMessage', { tools: [] }, false],
    ['roots/list', {}, true],
    ['tools/list', {}, false],
  ])('can be asked %s with %j: %s', (method, params, can) => {
    expect(peerOf({ caller: 'client', asks }, auto, ask)?.can(method, params)).toBe(can);
  });

  it('adds to what the bridge itself can be asked for', () => {
    const told = (own: object, more: object) =>
      peerCapabilities({ asks: more }, { mayAsk: false, maySample: false, ...own });
    expect(told({ mayAsk: true }, { elicitation: { url: {} } })).toEqual({ elicitation: { form: {}, url: {} } });
    expect(told({ maySample: true }, { roots: {} })).toEqual({ sampling: {}, roots: {} });
    // Before there were two modes, saying nothing meant forms.
    expect(told({}, { elicitation: {} })).toEqual({ elicitation: { form: {} } });
  });
});
