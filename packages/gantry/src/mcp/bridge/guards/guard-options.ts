import { GantryError } from '../../../kernel/errors.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { flattenText } from '../../../text/flatten.ts';

/** The options of a guard as an object. @throws {GantryError} `config_invalid` */
export const parseOptions = (options: unknown): Readonly<Record<string, unknown>> => {
  if (isObject(options)) return options;
  throw wrongOptions('"options" must be an object.');
};

/** A list of at least one text that is not blank. @throws {GantryError} `config_invalid` */
export const parseTexts = (options: Readonly<Record<string, unknown>>, key: string): readonly string[] => {
  const list = options[key];
  if (Array.isArray(list) && list.length > 0 && list.every((item) => typeof item === 'string' && item.trim() !== ''))
    return list as readonly string[];
  throw wrongOptions(`"${key}" must be a list of at least one text.`);
};

/** A flag that is false unless it is set. @throws {GantryError} `config_invalid` */
export const parseFlag = (options: Readonly<Record<string, unknown>>, key: string): boolean => {
  const flag = options[key] ?? false;
  if (typeof flag === 'boolean') return flag;
  throw wrongOptions(`"${key}" must be true or false.`);
};

/** Refuses options that nobody reads: a misspelt rule would not be enforced. @throws {GantryError} `config_invalid` */
export const refuseOthers = (options: Readonly<Record<string, unknown>>, keys: readonly string[]): void => {
  const other = Object.keys(options).find((key) => !keys.includes(key));
  if (other !== undefined)
    throw wrongOptions(`there is no option "${other}"; there are ${keys.map((key) => `"${key}"`).join(', ')}.`);
};

/** The error of options that a guard cannot enforce. */
export const wrongOptions = (problem: string): GantryError => new GantryError('config_invalid', problem);

/** Every argument of that name in any case: a server may read any of them. */
export const argumentsNamed = (args: JsonObject, name: string): readonly (readonly [name: string, value: Json])[] => {
  const wanted = name.toLowerCase();
  return Object.entries(args).filter(
    (entry): entry is [string, Json] => entry[1] !== undefined && entry[0].toLowerCase() === wanted,
  );
};

/** A value in a message, on one line and shortened. */
export const shownValue = (value: Json): string =>
  typeof value === 'string' ? `"${flattenText(value)}"` : flattenText(JSON.stringify(value));

/** Names in a message. */
export const shownList = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');
