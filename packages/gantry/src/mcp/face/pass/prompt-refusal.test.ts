import { expect, it } from 'vitest';
import { promptRefusal } from './prompt-refusal.ts';

const onlyPlan = { hidesPrompts: true, isPromptAllowed: (prompt: string) => prompt === 'plan' };
const asked = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 5, method, params });
const completing = (ref: unknown) => asked('completion/complete', { ref, argument: { name: 'x', value: '' } });

it.each([
  asked('prompts/get', { name: 'plan' }),
  completing({ type: 'ref/prompt', name: 'plan' }),
  completing({ type: 'ref/resource', uri: 'docs://{x}' }),
  asked('prompts/list', {}),
  asked('resources/read', { uri: 'secret' }),
])('lets %j go on', (message) => {
  expect(promptRefusal(onlyPlan, message)).toBeUndefined();
});

it.each([
  asked('prompts/get', { name: 'secret' }),
  completing({ type: 'ref/prompt', name: 'secret' }),
  completing({ type: 'ref/PROMPT', name: 'secret' }),
  completing({ name: 'secret' }),
])('says of %j that there is no such prompt', async (message) => {
  const refusal = await promptRefusal(onlyPlan, message)?.json();
  expect(refusal).toMatchObject({ id: 5, error: { code: -32_602, message: 'Prompt secret not found' } });
});

it.each([
  asked('prompts/get', undefined),
  asked('prompts/get', ['secret']),
  asked('prompts/get', { name: ['secret'] }),
  asked('prompts/get', { name: 'plan', Name: 'secret' }),
  asked('completion/complete', undefined),
  completing(undefined),
  completing('secret'),
  completing({ type: 'ref/prompt', name: 'plan', NAME: 'secret' }),
  completing({ type: 'ref/resource', Type: 'ref/prompt', name: 'secret' }),
  asked('completion/complete', { ref: { type: 'ref/prompt', name: 'plan' }, Ref: { name: 'secret' } }),
])('refuses %j, which nobody can judge, and only where prompts are hidden', async (message) => {
  const refusal = await promptRefusal(onlyPlan, message)?.json();
  expect(refusal).toMatchObject({
    id: 5,
    error: { code: -32_602, message: expect.stringContaining('Invalid params') },
  });
  expect(promptRefusal({ hidesPrompts: false, isPromptAllowed: () => true }, message)).toBeUndefined();
});
