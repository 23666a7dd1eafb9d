import { atPointer } from '../../../packages/gantry/src/kernel/json-pointer.ts';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import type { JsonObject } from '../../../packages/gantry/src/kernel/json.ts';
import { describeFaults } from '../../../packages/gantry/src/schema/faults.ts';
import { createSchemaValidator } from '../../../packages/gantry/src/schema/validate.ts';
import { differences, isSame, shown, unless, unmentioned } from './compare.ts';
import { asText, listOf, textsOf } from './read-cases.ts';
import { NotCovered, refuseUnread } from './verdict.ts';

/** A tool as it goes to a provider. */
export interface SentTool {
  readonly description: string;
  readonly inputSchema: JsonObject;
}

type Schema = Readonly<Record<string, unknown>>;
type Check = (expected: unknown, tool: SentTool, check: Schema) => string[];

const validator = createSchemaValidator();

/** Judges what is sent to a provider by one group of checks; `subject` names the tool. */
export const wrongSchema = (subject: string, tool: SentTool, check: Schema): string[] => {
  refuseUnread(check, 'a check', ['tool', 'everyTool', 'is', ...Object.keys(checks)]);
  return Object.entries(checks).flatMap(([name, run]) =>
    name in check ? run(check[name], tool, check).map((problem) => `${subject}: ${problem}`) : [],
  );
};

const checks: Readonly<Record<string, Check>> = {
  at: (pointer, { inputSchema }, check) =>
    'is' in check ? differences(asText(pointer), atPointer(inputSchema, `#${asText(pointer)}`), check['is']) : [],
  absentAt: (pointers, { inputSchema }) =>
    textsOf(pointers).flatMap((pointer) => {
      const found = atPointer(inputSchema, `#${pointer}`);
      return unless(found === undefined, `expected nothing at ${pointer}`, found);
    }),
  nowhere: (words, { inputSchema }) => {
    const used = new Set(subschemasOf(inputSchema).flatMap((schema) => (isObject(schema) ? Object.keys(schema) : [])));
    const found = textsOf(words).filter((word) => used.has(word));
    return unless(found.length === 0, 'expected these keywords nowhere', found);
  },
  everyArrayHas: (wanted, { inputSchema }) => lacking(inputSchema, (schema) => hasType(schema, 'array'), wanted),
  everyObjectHas: (wanted, { inputSchema }) => lacking(inputSchema, (schema) => hasType(schema, 'object'), wanted),
  everyAnyOfMemberHas: (wanted, { inputSchema }) => {
    const members = new Set(objectsIn(inputSchema).flatMap((schema) => listOf(schema['anyOf'])));
    return lacking(inputSchema, (schema) => members.has(schema), wanted);
  },
  everyTypeIsOneString: (_wanted, { inputSchema }) => {
    const odd = objectsIn(inputSchema).filter(({ type }) => type !== undefined && typeof type !== 'string');
    return unless(odd.length === 0, 'expected every type to be one text', odd);
  },
  everySubschemaIsObject: (_wanted, { inputSchema }) => {
    const odd = subschemasOf(inputSchema, false).filter((schema) => !isObject(schema));
    return unless(odd.length === 0, 'expected every subschema to be an object', odd);
  },
  everyObjectRequiresAllItsKeys: (_wanted, { inputSchema }) => {
    const odd = objectsIn(inputSchema).filter(
      ({ properties, required }) =>
        isObject(properties) && !isSame(Object.keys(properties).toSorted(), textsOf(required).toSorted()),
    );
    return unless(odd.length === 0, 'expected every object to require all its keys', odd);
  },
  accepts: (values, { inputSchema }) =>
    listOf(values).flatMap((value) => {
      const faults = validator.validate(inputSchema, value);
      return unless(
        faults.length === 0,
        `expected ${shown(value)} to be accepted`,
        describeFaults(faults, { schema: inputSchema }),
      );
    }),
  rejects: (values, { inputSchema }) =>
    listOf(values).flatMap((value) =>
      unless(validator.validate(inputSchema, value).length > 0, `expected ${shown(value)} to be rejected`, 'no fault'),
    ),
  descriptionMentions: (words, { description, inputSchema }, check) => {
    const pointer = check['at'];
    const place = typeof pointer === 'string' ? parentOf(inputSchema, pointer) : undefined;
    const own = place === undefined ? objectsIn(inputSchema) : [place];
    const texts = [description, ...own.map((schema) => (isObject(schema) ? asText(schema['description'] ?? '') : ''))];
    return unmentioned('description', texts.join('\n'), words);
  },
  anyOfChecks: (groups, tool) => {
    const failed = listOf(groups).map((group) =>
      listOf(group).flatMap((check) => {
        if (!isObject(check)) throw new NotCovered('a check is no object');
        return wrongSchema('either', tool, check);
      }),
    );
    return failed.some((problems) => problems.length === 0) ? [] : failed.flat();
  },
};

const hasType = (schema: Schema, type: string): boolean => textsOf(schema['type']).includes(type);

const objectsIn = (schema: unknown): Schema[] => subschemasOf(schema).filter(isObject);

const lacking = (root: unknown, isMeant: (schema: Schema) => boolean, wanted: unknown): string[] => {
  const lacks = (schema: Schema): boolean =>
    isObject(wanted)
      ? Object.entries(wanted).some(([key, value]) => !isSame(schema[key], value))
      : textsOf(wanted).some((key) => schema[key] === undefined);
  const odd = objectsIn(root).filter((schema) => isMeant(schema) && lacks(schema));
  return unless(odd.length === 0, `expected ${shown(wanted)} everywhere`, odd);
};

const singles = ['additionalItems', 'contains', 'else', 'if', 'items', 'not', 'propertyNames', 'then'];
// true and false are ordinary values of these.
const orFlag = ['additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'];
const lists = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'];
const maps = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'];

/** A schema and everything below it that is one too. */
const subschemasOf = (schema: unknown, withFlags = true): unknown[] => {
  if (!isObject(schema)) return [schema];
  const below = [
    ...singles.map((key) => schema[key]).filter((value) => value !== undefined && !Array.isArray(value)),
    ...orFlag.map((key) => schema[key]).filter((value) => isObject(value) || (withFlags && typeof value === 'boolean')),
    ...lists.flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as unknown[]) : [])),
    ...maps.flatMap((key) => (isObject(schema[key]) ? Object.values(schema[key]) : [])),
  ];
  return [schema, ...below.flatMap((sub) => subschemasOf(sub, withFlags))];
};

/** The subschema that a pointer lies in or at. */
const parentOf = (root: unknown, pointer: string): unknown => {
  const found = atPointer(root, `#${pointer}`);
  if (isObject(found)) return found;
  return atPointer(root, `#${pointer.slice(0, pointer.lastIndexOf('/'))}`);
};
