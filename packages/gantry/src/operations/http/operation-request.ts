import * as z from 'zod';
import { isObject } from '../../kernel/json.ts';
import type { AnyOperation } from '../operation.ts';

/** Where the operations live below the gateway's address. */
export const apiRoot = '/api/v1';

/** The inputs that stand in an operation's path. */
export const pathNames = (operation: { readonly path: string }): readonly string[] =>
  [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);

/** JSON Schema of an operation's input, by name, and the names that must be given. */
export const inputProperties = (
  operation: AnyOperation,
): { readonly properties: Readonly<Record<string, unknown>>; readonly required: readonly string[] } => {
  const { properties = {}, required = [] } = z.toJSONSchema(operation.input, { io: 'input' });
  return { properties, required };
};

/** Where and with what an operation is asked for over HTTP. */
export interface OperationRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query, from the root. */
  readonly target: string;
  readonly body?: string | undefined;
}

/** Says an operation and its input as a request. */
export const toRequest = (
  operation: { readonly method: 'GET' | 'POST'; readonly path: string },
  input: Readonly<Record<string, unknown>>,
): OperationRequest => {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = String(rest.get(name));
    rest.delete(name);
    return encodeURIComponent(value);
  });
  const { method } = operation;
  if (method === 'POST') return { method, target: `${apiRoot}${path}`, body: JSON.stringify(Object.fromEntries(rest)) };
  const query = new URLSearchParams(
    [...rest].map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return { method, target: `${apiRoot}${path}${query === '' ? '' : `?${query}`}` };
};

/** Reads texts of a query as what the schema asks for; a text that cannot be read so stays, and the schema will refuse it. */
export const fromQuery = (text: string, property: unknown): unknown => {
  switch (isObject(property) ? property['type'] : undefined) {
    case 'boolean':
      return text === '' || text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : text;
    case 'number':
    case 'integer':
      return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
    default:
      return text;
  }
};
