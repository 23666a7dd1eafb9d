import { isObject } from '../kernel/json.ts';

/** How many values of each kind a tool takes. */
export interface WantedValues {
  /** Without these there is no call. */
  readonly required: { readonly numbers: number; readonly dates: number; readonly texts: number };
  /** Numbers that could go somewhere: numeric and date parameters; any number where there is a list. */
  readonly mostNumbers: number;
}

const dateName = /(?:^|_|[a-z])(?:date|day|time|year|month|when|deadline)s?(?:$|_|[A-Z])|^(?:start|end|from|to)$/i;

/** Reads what the arguments of a tool are by its input schema; undefined where it says nothing of them. */
export const toWantedValues = (inputSchema: unknown): WantedValues | undefined => {
  if (!isObject(inputSchema) || !isObject(inputSchema['properties'])) return undefined;
  const names = Array.isArray(inputSchema['required']) ? inputSchema['required'] : [];
  const required = { numbers: 0, dates: 0, texts: 0 };
  let mostNumbers = 0;
  let hasDate = false;
  for (const [name, property] of Object.entries(inputSchema['properties'])) {
    if (!isObject(property)) continue;
    const kind = kindOf(name, property);
    if (kind === 'numbers') mostNumbers += 1;
    if (kind === 'dates') hasDate = true;
    if (kind === 'list') mostNumbers = Number.POSITIVE_INFINITY;
    else if (kind !== undefined && names.includes(name)) required[kind] += 1;
  }
  return { required, mostNumbers: hasDate ? mostNumbers + 1 : mostNumbers };
};

const kindOf = (name: string, { type, format }: Readonly<Record<string, unknown>>): Kind | 'list' | undefined => {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (types.includes('array')) return 'list';
  if (dateName.test(name) || (typeof format === 'string' && format.includes('date'))) return 'dates';
  if (types.includes('number') || types.includes('integer')) return 'numbers';
  return types.includes('string') ? 'texts' : undefined;
};

type Kind = keyof WantedValues['required'];
