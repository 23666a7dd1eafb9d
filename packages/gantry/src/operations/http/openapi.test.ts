import { expect, it } from 'vitest';
import { allOperations } from '../all-operations.ts';
import { toOpenApi } from './openapi.ts';

const document = JSON.parse(JSON.stringify(toOpenApi(allOperations))) as {
  openapi: string;
  paths: Record<string, Record<string, Record<string, unknown>>>;
};

it('describes every operation under its own id', () => {
  const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map((item) => item['operationId']));
  expect(new Set(ids)).toEqual(new Set(allOperations.map((operation) => operation.name)));
  expect(ids).toHaveLength(allOperations.length);
  expect(document.openapi).toBe('3.1.0');
});

it('says path and query inputs as parameters', () => {
  expect(document.paths['/api/v1/tools']?.['get']?.['parameters']).toEqual([
    { name: 'source', in: 'query', required: false, schema: { type: 'string', description: expect.any(String) } },
    { name: 'all', in: 'query', required: false, schema: { type: 'boolean', description: expect.any(String) } },
  ]);
  expect(document.paths['/api/v1/tools/{name}']?.['get']?.['parameters']).toMatchObject([
    { name: 'name', in: 'path', required: true },
  ]);
});

it('says the inputs of a POST that are not in its path as a strict body', () => {
  const item = document.paths['/api/v1/tools/{name}/call']?.['post'];
  expect(item?.['parameters']).toMatchObject([{ name: 'name', in: 'path' }]);
  expect(item?.['requestBody']).toMatchObject({
    required: false,
    content: {
      'application/json': {
        schema: { additionalProperties: false, properties: { arguments: {}, sessionId: {}, timeoutMs: {} } },
      },
    },
  });
  expect(JSON.stringify(item?.['requestBody'])).not.toContain('"name"');
});

it('has no reference that leads nowhere', () => {
  const text = JSON.stringify(document);
  for (const [, reference] of text.matchAll(/"\$ref":"#([^"]+)"/g)) {
    let at: unknown = document;
    for (const key of (reference as string).split('/').slice(1))
      at = (at as Record<string, unknown> | undefined)?.[key];
    expect(at, reference).toBeDefined();
  }
});
