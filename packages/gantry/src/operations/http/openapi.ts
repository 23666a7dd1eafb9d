import * as z from 'zod';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { AnyOperation } from '../operation.ts';
import { apiRoot, inputProperties, pathNames } from './operation-request.ts';

/** The OpenAPI 3.1 document of these operations, made from the schemas that check their input. */
export const toOpenApi = (operations: readonly AnyOperation[]): JsonObject => {
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations)
    (paths[apiRoot + operation.path] ??= {})[operation.method.toLowerCase()] = toPathItem(operation);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gantry',
      version: '1',
      description: 'Everything that the gantry command does, over HTTP.',
    },
    // A token is needed only where the gateway was given one.
    security: [{}, { bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: errorSchema },
      responses: {
        Error: {
          description: 'The operation failed.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
    },
  };
};

const toPathItem = (operation: AnyOperation): JsonObject => {
  const { properties, required } = inputProperties(operation);
  const inPath = pathNames(operation);
  const others = Object.entries(properties).filter(([name]) => !inPath.includes(name));
  const parameters = [
    ...inPath.map((name) => toParameter(name, 'path', true, properties[name])),
    ...(operation.method === 'GET'
      ? others.map(([name, schema]) => toParameter(name, 'query', required.includes(name), schema))
      : []),
  ];
  return {
    operationId: operation.name,
    tags: [operation.name.replace(/\..*/, '')],
    summary: operation.summary,
    description: operation.description,
    parameters,
    requestBody:
      operation.method === 'POST'
        ? toBody(
            others,
            required.filter((name) => !inPath.includes(name)),
          )
        : undefined,
    responses: {
      200: {
        description: 'The result.',
        content: {
          ...(operation.streams !== 'only' && {
            'application/json': { schema: withoutDialect(z.toJSONSchema(operation.output, { io: 'output' })) },
          }),
          ...(operation.streams && { 'text/event-stream': { schema: { type: 'string' } } }),
        },
      },
      default: { $ref: '#/components/responses/Error' },
    },
  };
};

const toParameter = (name: string, where: 'path' | 'query', isRequired: boolean, schema: unknown): JsonObject => ({
  name,
  in: where,
  required: isRequired,
  schema: schema as JsonObject,
});

const toBody = (members: readonly (readonly [string, unknown])[], required: readonly string[]): JsonObject => ({
  required: required.length > 0,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: Object.fromEntries(members) as JsonObject,
        required: required.length > 0 ? required : undefined,
        additionalProperties: false,
      },
    },
  },
});

// OpenAPI 3.1 has this dialect as its default.
const withoutDialect = ({ $schema: _dialect, ...schema }: object & { $schema?: unknown }): JsonObject => schema;

const errorSchema: JsonObject = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'isRetryable'],
      properties: {
        code: { type: 'string' },
        message: { type: 'string', description: 'What was wrong, what is allowed, what to do.' },
        isRetryable: { type: 'boolean' },
      },
    },
  },
};
