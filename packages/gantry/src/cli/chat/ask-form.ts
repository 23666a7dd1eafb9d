import type { JsonObject } from '../../kernel/json.ts';
import type { OpenQuestion, OpenQuestionField } from '../../operations/questions.ts';
import { toCell } from '../output/printable.ts';

/** Asks the person at the terminal for a line that he writes after the prompt is shown; undefined when he leaves. */
export type AskLine = (prompt: string) => Promise<string | undefined>;

/** What a person does with a question: answers it, declines it, or leaves it for later. */
export type FormAnswer = { readonly answers: JsonObject } | 'decline' | 'later';

/** Shows a server's question as a form, one field after the other. What is given is checked by the gateway, not here. */
export const askForm = async (
  { server, tool, message, fields }: OpenQuestion,
  options: { readonly ask: AskLine; readonly say: (line: string) => void },
): Promise<FormAnswer> => {
  const { ask, say } = options;
  say(`${toCell(server)} asks (in ${toCell(tool)}): ${toCell(message)}`);
  say('Answer below; /decline refuses, /later leaves it open.');
  const answers: Record<string, JsonObject[string]> = {};
  if (fields.length === 0) {
    const said = (await ask('  Confirm? (yes, /decline, /later) '))?.trim().toLowerCase();
    if (said === undefined || said === '/later') return 'later';
    return said === 'yes' || said === 'y' ? { answers } : 'decline';
  }
  for (const field of fields) {
    for (const [at, option] of (field.options ?? []).entries())
      say(`    ${at + 1}. ${toCell(option.title ?? option.value)}`);
    for (;;) {
      const said = await ask(promptFor(field));
      const text = said?.trim();
      if (text === undefined || text === '/later') return 'later';
      if (text === '/decline') return 'decline';
      if (text === '') {
        if (!field.required || field.default !== undefined) break;
        say('    This one is needed.');
        continue;
      }
      const value = toValue(field, text);
      if (value !== undefined) {
        answers[field.name] = value;
        break;
      }
      say(`    That is no ${field.type}; try again.`);
    }
  }
  return { answers };
};

const promptFor = (field: OpenQuestionField): string => {
  const { name, title, description, type, required, minimum, maximum } = field;
  const range = minimum === undefined && maximum === undefined ? undefined : `${minimum ?? '…'} to ${maximum ?? '…'}`;
  const facts = [
    type === 'boolean' ? 'yes or no' : type === 'choices' ? 'several, with commas' : type,
    range,
    required ? undefined : 'optional',
    field.default === undefined ? undefined : `default ${toCell(String(field.default))}`,
  ].filter((fact) => fact !== undefined);
  return `  ${toCell(title ?? name)}${description === undefined ? '' : ` – ${toCell(description)}`} (${facts.join(', ')}): `;
};

/** The value that a text stands for; undefined when it stands for none. Choices may be given by number, title or value. */
const toValue = (field: OpenQuestionField, text: string): JsonObject[string] => {
  switch (field.type) {
    case 'string':
      return text;
    case 'boolean':
      return /^(?:y|yes|true|1)$/i.test(text) ? true : /^(?:n|no|false|0)$/i.test(text) ? false : undefined;
    case 'number':
    case 'integer': {
      const value = Number(text);
      return Number.isFinite(value) ? value : undefined;
    }
    case 'choice':
      return choiceOf(field, text);
    case 'choices': {
      const chosen = text.split(',').map((part) => choiceOf(field, part.trim()));
      return chosen.every((value) => value !== undefined) ? chosen : undefined;
    }
  }
};

const choiceOf = ({ options = [] }: OpenQuestionField, text: string): string | undefined => {
  const exact = options.find(({ value }) => value === text);
  const numbered = /^\d+$/.test(text) ? options[Number(text) - 1] : undefined;
  const titled = options.find(({ title, value }) => (title ?? value).toLowerCase() === text.toLowerCase());
  return (exact ?? numbered ?? titled)?.value;
};
