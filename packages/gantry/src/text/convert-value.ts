import { isObject, parseJson } from '../kernel/json.ts';
import type { JsonType } from './schema-view.ts';

/**
 * The readings of a value as one of `types` that lose nothing. More than one, or none, means that only the model can tell. Lists are not
 * made here: whether one value may stand for a list depends on the items.
 */
export const losslessReadings = (value: unknown, types: readonly JsonType[]): unknown[] => {
  const readings = types.map((type) => readAs(value, type)).filter((reading) => reading !== undefined);
  return readings.filter((reading, index) => readings.findIndex((other) => Object.is(other, reading)) === index);
};

const readAs = (value: unknown, type: JsonType): unknown => {
  switch (type) {
    case 'integer':
    case 'number':
      return typeof value === 'string' ? readNumber(value.trim(), type) : undefined;
    case 'boolean':
      return readBoolean(value);
    case 'string':
      return (typeof value === 'number' && Number.isSafeInteger(value)) || typeof value === 'boolean'
        ? String(value)
        : undefined;
    case 'null':
      return value === 'null' ? null : undefined;
    case 'object':
    case 'array':
      return typeof value === 'string' ? readJson(value, type) : undefined;
    default:
      // A schema may hold any text as a type; nothing is read as an unknown one.
      return undefined;
  }
};

/** Plain decimal text whose digits all survive: not `0x10`, `1,000`, `007`, `1e3` or more digits than a number holds. */
const readNumber = (text: string, type: 'integer' | 'number'): number | undefined => {
  const match = /^(-?(?:0|[1-9]\d{0,30}))(?:\.(\d{1,40}))?$/.exec(text);
  if (!match) return undefined;
  const fraction = (match[2] ?? '').replace(/0+$/, '');
  const plain = fraction === '' ? (match[1] as string) : `${match[1]}.${fraction}`;
  const value = Number(plain);
  if (String(value) !== plain) return undefined;
  return type === 'number' || Number.isSafeInteger(value) ? value : undefined;
};

const readBoolean = (value: unknown): boolean | undefined => {
  if (value === 1) return true;
  if (value === 0) return false;
  if (typeof value !== 'string' || value.length > 16) return undefined;
  const word = value.trim().toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : undefined;
};

const readJson = (text: string, type: 'object' | 'array'): unknown => {
  if (!text.trimStart().startsWith(type === 'object' ? '{' : '[')) return undefined;
  const parsed = parseJson(text);
  if (!parsed.ok) return undefined;
  return (type === 'object' ? isObject(parsed.value) : Array.isArray(parsed.value)) ? parsed.value : undefined;
};
