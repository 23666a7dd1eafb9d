import { isObject } from '../../../kernel/json.ts';
import { foldName } from './fold-text.ts';
import { shownName } from './form-field.ts';
import { asksForCredential, isSensitiveName, isSensitiveText } from './sensitive-field.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * What a form asks for that is never given: the names of fields, or the message. Every text is read exactly as a client would get it. The
 * form has been read (`readForm`), so that nothing else is in it.
 */
export const credentialsAsked = (params: Members, deniedFields: readonly string[]): readonly string[] => {
  const schema = isObject(params['requestedSchema']) ? params['requestedSchema'] : {};
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const denied = new Set(deniedFields.map(foldName));
  const fields = Object.entries(properties)
    .filter(([name, field]) => denied.has(foldName(name)) || isSensitiveField(name, isObject(field) ? field : {}))
    .map(([name]) => `"${shownName(name)}"`);
  // Where nothing can be written, nothing is given away.
  const takesText = Object.values(properties).some((field) => isObject(field) && isOpen(field));
  const texts = [params['message'], schema['title'], schema['description']];
  const isAsked = takesText && texts.some((text) => typeof text === 'string' && asksForCredential(text));
  return isAsked ? [...fields, 'what its message says'] : fields;
};

const isOpen = (field: Members): boolean =>
  ['string', 'number', 'integer'].includes(String(field['type'])) && !('enum' in field) && !('oneOf' in field);

const isSensitiveField = (name: string, field: Members): boolean => {
  if (isSensitiveName(name) || field['format'] === 'password' || (field['writeOnly'] ?? false) !== false) return true;
  const items = isObject(field['items']) ? field['items'] : {};
  const said = [field['title'], field['description'], items['title'], items['description']];
  return (
    said.some((text) => typeof text === 'string' && isSensitiveText(text)) ||
    [field, items].flatMap(offeredIn).some((text) => asksForCredential(text, { isChoice: true }))
  );
};

/** The texts of what may be chosen. */
const offeredIn = (schema: Members): readonly string[] =>
  [schema['enum'], schema['enumNames'], schema['oneOf'], schema['anyOf']]
    .flatMap((list): readonly unknown[] => (Array.isArray(list) ? list : []))
    .flatMap((option) => (isObject(option) ? [option['const'], option['title'], option['description']] : [option]))
    .filter((text) => typeof text === 'string');
