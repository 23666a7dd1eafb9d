/** The most levels of lists and objects that arguments and results may have: what writes, compares and checks them is recursive. */
export const maxJsonDepth = 200;

/**
 * Why a value cannot be written as JSON, and where: `a bigint at "rows[2].total"`; `undefined` when it can. Undefined members
 * count as absent, and objects that say themselves as JSON (`toJSON`: dates, URLs) are taken at their word.
 */
export const jsonProblem = (value: unknown): string | undefined => {
  const fault = faultIn(value, maxJsonDepth);
  if (fault === undefined) return undefined;
  if (fault.what !== undefined) return `${fault.what}${placed(fault.keys)}`;
  return new Set(fault.chain).size < fault.chain.length
    ? 'a value that contains itself'
    : `JSON nested deeper than ${maxJsonDepth} levels`;
};

/** A fault on its way up: each level adds its key, so that faultless values cost no paths. */
interface JsonFault {
  /** Absent when the value nests too deep. */
  readonly what: string | undefined;
  /** From the fault outwards. */
  readonly keys: (string | number)[];
  readonly chain: object[];
}

const faultIn = (value: unknown, levelsLeft: number): JsonFault | undefined => {
  switch (typeof value) {
    case 'bigint':
    case 'function':
    case 'symbol':
      return { what: `a ${typeof value}`, keys: [], chain: [] };
    case 'object':
      return value === null ? undefined : faultInMembers(value, levelsLeft);
    default:
      return undefined;
  }
};

const faultInMembers = (value: object, levelsLeft: number): JsonFault | undefined => {
  if (levelsLeft === 0) return { what: undefined, keys: [], chain: [value] };
  const list: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (list === undefined) {
    if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined;
    const tag = Object.prototype.toString.call(value).slice('[object '.length, -1);
    if (tag !== 'Object') return { what: `a value of type ${tag}`, keys: [], chain: [] };
  }
  for (const [key, member] of list === undefined ? Object.entries(value) : list.entries()) {
    const fault = faultIn(member, levelsLeft - 1);
    if (fault === undefined) continue;
    fault.keys.push(key);
    fault.chain.push(value);
    return fault;
  }
  return undefined;
};

const placed = (keys: readonly (string | number)[]): string => {
  let path = '';
  for (const key of keys.toReversed())
    path += typeof key === 'number' ? `[${key}]` : `${path === '' ? '' : '.'}${key.slice(0, 80)}`;
  return path === '' ? '' : ` at "${path.slice(0, 200)}"`;
};
