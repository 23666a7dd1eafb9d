import { describe, expect, it } from 'vitest';
import { createSchemaValidator } from '../../../schema/validate.ts';
import type { DownstreamTool } from '../../wire/manage-messages.ts';
import { toManifest } from './manifest.ts';
import { withPathsInSchema } from './widen-schema.ts';

const manifest = toManifest({ outbound: { paramPaths: ['attachments[*]'] }, inbound: { tools: ['GET_FILE'] } });
const tool = (name: string, properties: object): DownstreamTool => ({
  name,
  inputSchema: { type: 'object', properties, additionalProperties: false } as unknown as DownstreamTool['inputSchema'],
});
const accepts = (given: DownstreamTool, args: object): boolean =>
  createSchemaValidator().validate(given.inputSchema, args).length === 0;

const file = {
  type: 'object',
  properties: { name: { type: 'string' }, base64Content: { type: 'string' } },
  required: ['name', 'base64Content'],
  additionalProperties: false,
};

describe('a list of files', () => {
  it.each([
    ['plain', { type: 'array', items: file }],
    ['or null', { anyOf: [{ type: 'array', items: file }, { type: 'null' }] }],
  ])('(%s) takes paths beside what it takes already', (_what, attachments) => {
    const widened = withPathsInSchema(tool('send', { attachments }), manifest);
    expect(
      accepts(widened, {
        attachments: [
          { path: 'a.pdf', inline: true },
          { name: 'b', base64Content: '' },
        ],
      }),
    ).toBe(true);
    expect(accepts(widened, { attachments: [{ file: 'a.pdf' }] })).toBe(false);
  });

  it('that takes any items stays as it is, and so does a tool without one', () => {
    for (const given of [tool('send', { attachments: { type: 'array' } }), tool('send', { to: {} }), tool('x', {})])
      expect(withPathsInSchema(given, manifest)).toBe(given);
  });
});

describe('the mode of a tool that hands files over', () => {
  it.each([
    ['an enum', { enum: ['inline', 'stash'] }],
    ['one value', { const: 'stash' }],
    ['alternatives', { anyOf: [{ const: 'stash' }, { type: 'null' }] }],
    ['exclusive alternatives', { oneOf: [{ type: 'string', maxLength: 5 }, { type: 'null' }] }],
    ['nothing', undefined],
  ])('with %s takes "save" too', (_what, mode) => {
    const widened = withPathsInSchema(tool('get_file', mode ? { mode } : {}), manifest);
    expect(accepts(widened, { mode: 'save' })).toBe(true);
    expect(accepts(widened, { mode: 7 })).toBe(false);
    if (mode) expect(accepts(widened, { mode: 'stash' })).toBe(true);
  });
});
