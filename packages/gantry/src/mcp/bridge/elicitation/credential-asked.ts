import { isObject } from '../../../kernel/json.ts';
import { foldName } from './fold-text.ts';
import { shownName } from './form-field.ts';
import { asksForCredential, isSensitiveName } from './sensitive-field.ts';
import { textsIn } from './texts-in.ts';

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
  const { properties: _, ...rest } = schema;
  const isAsked =
    !isOneDecision(properties) && textsIn([params['message'], rest]).some((text) => asksForCredential(text));
  return isAsked ? [...fields, 'what its message says'] : fields;
};

/** One yes or no gives nothing away, and "Delete your API key?" is what checkpoints say. Several spell a secret, as choices do. */
const isOneDecision = (properties: Members): boolean => {
  const [field, ...others] = Object.values(properties);
  return others.length === 0 && (field === undefined || (isObject(field) && field['type'] === 'boolean'));
};

const isSensitiveField = (name: string, field: Members): boolean => {
  const items = isObject(field['items']) ? field['items'] : {};
  const offered = [field, items].flatMap((schema) => choiceMembers.flatMap((key) => textsIn(schema[key])));
  // A client may show any text of a field, a pattern too. Only where a choice is the default does it count as a choice.
  const defaults = textsIn(field['default']).filter((text) => !offered.includes(text));
  const said = [name, ...defaults, ...textsIn(withoutChoices(field)), ...textsIn(withoutChoices(items))];
  return (
    [field, items].some((schema) => (schema['writeOnly'] ?? false) !== false) ||
    said.some((text) => isSensitiveName(text)) ||
    offered.some((text) => asksForCredential(text, { isChoice: true }))
  );
};

const choiceMembers = ['enum', 'enumNames', 'oneOf', 'anyOf'];

const readElsewhere: ReadonlySet<string> = new Set([...choiceMembers, 'items', 'default']);
const withoutChoices = (schema: Members): Members =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !readElsewhere.has(key)));
