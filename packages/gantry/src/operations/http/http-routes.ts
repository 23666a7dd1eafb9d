import type { Context, Env, Hono } from 'hono';
import { GantryError } from '../../kernel/errors.ts';
import { isObject, parseJson } from '../../kernel/json.ts';
import type { AnyOperation } from '../operation.ts';
import type { OperationDeps } from '../operation-deps.ts';
import { parseInput } from '../parse-input.ts';
import { acceptsEvents } from './accepts-events.ts';
import { toErrorAnswer } from './error-status.ts';
import { toOpenApi } from './openapi.ts';
import { streamOperation } from './stream-operation.ts';
import { apiRoot, fromQuery, inputProperties } from './operation-request.ts';

/**
 * Puts the operations under `/api/v1` of an app, and their description at `/api/v1/openapi.json`. Who may ask is decided
 * before: tokens, Host and Origin are the app's matter.
 */
export const mountOperations = <E extends Env>(
  app: Hono<E>,
  operations: readonly AnyOperation[],
  deps: OperationDeps,
): void => {
  let document: ReturnType<typeof toOpenApi> | undefined;
  app.get(`${apiRoot}/openapi.json`, (context) => context.json((document ??= toOpenApi(operations))));
  for (const operation of operations) mount(app, operation, deps);
};

const mount = <E extends Env>(app: Hono<E>, operation: AnyOperation, deps: OperationDeps): void => {
  let properties: Readonly<Record<string, unknown>> | undefined;
  const run = async (context: Context): Promise<Response> => {
    try {
      properties ??= inputProperties(operation).properties;
      const raw = operation.method === 'GET' ? queryOf(context, properties) : await bodyOf(context);
      const input = parseInput(operation, { ...raw, ...context.req.param() });
      if (operation.streams && acceptsEvents(context.req.header('accept')))
        return streamOperation(operation, input, deps, context.req.raw.signal);
      if (operation.streams === 'only')
        throw new GantryError(
          'invalid_arguments',
          `"${operation.name}" only streams; send "Accept: text/event-stream".`,
        );
      return context.json((await operation.handler(input, deps, { signal: context.req.raw.signal })) as object);
    } catch (error) {
      const { status, body } = toErrorAnswer(error);
      if (status === 500) deps.log.error({ operation: operation.name, err: error }, 'an operation failed');
      return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
    }
  };
  app.on(operation.method, apiRoot + operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), run);
};

const queryOf = (context: Context, properties: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(context.req.queries()).map(([name, texts]) => {
      const values = texts.map((text) => fromQuery(text, properties[name]));
      return [name, values.length === 1 ? values[0] : values];
    }),
  );

const bodyOf = async (context: Context): Promise<Readonly<Record<string, unknown>>> => {
  const text = await context.req.text();
  if (text.trim() === '') return {};
  const parsed = parseJson(text);
  if (parsed.ok && isObject(parsed.value)) return parsed.value;
  const problem = parsed.ok ? 'is no JSON object' : `is not JSON: ${parsed.reason}`;
  throw new GantryError('invalid_arguments', `The body of the request ${problem}; send an object such as {}.`);
};
