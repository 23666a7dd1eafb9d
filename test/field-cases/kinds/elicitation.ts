import { mcpServers } from 'gantry/mcp';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { startModernRawServer } from '../../fixtures/modern-raw-server.ts';
import { differences, unless } from '../lib/compare.ts';
import { asText, listOf } from '../lib/read-cases.ts';
import { startServed } from '../lib/served-gantry.ts';
import type { Handler } from '../lib/verdict.ts';
import { refuseUnread } from '../lib/verdict.ts';

/** A form and what a person does with it → what the server is sent, or that the form stays open and names what is wrong. */
export const elicitation: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['requestedSchema', 'answers']);
  refuseUnread(expect, 'the expectation', ['sentToServer', 'whenNotSent', 'declineAndCancelHaveContent']);
  const { requestedSchema } = input;
  const required = isObject(requestedSchema) ? listOf(requestedSchema['required']).map(asText) : [];
  const sent: unknown[] = [];
  await using server = await startModernRawServer('form', ({ params }) => {
    const answered = params?.['inputResponses'];
    if (isObject(answered)) {
      sent.push(answered['k']);
      return { resultType: 'complete', content: [{ type: 'text', text: 'went on' }] };
    }
    const request = { method: 'elicitation/create', params: { message: 'Please fill in.', requestedSchema } };
    return { resultType: 'input_required', inputRequests: { k: request } };
  });
  await using served = await startServed({ field: { url: server.url } });
  await served.servers.ready();
  const { questions } = served.gantry.service(mcpServers) ?? served.servers;
  const wanted = listOf(expect['sentToServer']);
  const problems: string[] = [];
  for (const [index, answer] of listOf(input['answers']).entries()) {
    const { action, content } = isObject(answer) ? answer : {};
    const parked = await served.gantry.call('field__form', {}, { caller: 'operator' });
    const id = parked.status === 'parked' ? parked.handle.id : '';
    const before = sent.length;
    const given =
      action === 'accept' ? { answers: content } : action === 'decline' ? { decline: true } : { cancel: true };
    const refusal = await questions.answer(id, given, { kind: 'person' }).then(
      () => '',
      (error: unknown) => (error as Error).message,
    );
    const came = sent.length > before ? sent.at(-1) : null;
    problems.push(...differences(`answer ${index}`, came, wanted[index]));
    if (wanted[index] !== null) continue;
    const isOpen = (await questions.list()).some((question) => question.id === id);
    problems.push(...unless(isOpen, `answer ${index}: expected the form to stay open`, refusal));
    const isNamed = required.some((field) => refusal.includes(field));
    problems.push(...unless(isNamed, `answer ${index}: expected the field to be named`, refusal));
    await questions.answer(id, { cancel: true }, { kind: 'person' });
  }
  if (expect['declineAndCancelHaveContent'] === false)
    for (const answer of sent)
      if (isObject(answer) && answer['action'] !== 'accept')
        problems.push(...unless(!('content' in answer), 'expected no content', answer));
  return problems;
};
