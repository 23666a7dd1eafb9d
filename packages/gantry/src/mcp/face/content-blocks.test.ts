import { expect, it } from 'vitest';
import type { Part } from '../../tool/outcome.ts';
import { toContentBlocks } from './content-blocks.ts';

const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
const linked = { type: 'resource_link', uri: 'a:b', name: 'n' };
const resource = { type: 'resource', resource: { uri: 'a:b', text: 'x' } };
const named = (type: string) => ({ type: 'text', text: `[${type} content block]` });

it.each<[string, unknown, unknown]>([
  ['an image', image, image],
  ['a member that nobody knows', { ...image, more: 1 }, { ...image, more: 1 }],
  ['a resource', resource, resource],
  ['a text with odd annotations', { type: 'text', text: 'x', annotations: 'y' }, { type: 'text', text: 'x' }],
  ['an image with odd meta', { ...image, _meta: 5 }, image],
  ['a link with an odd size', { ...linked, size: 'large' }, linked],
  ['a resource with odd meta', { type: 'resource', resource: { ...resource.resource, _meta: 5 } }, resource],
  ['an unknown type', { type: 'video', data: 'x' }, named('video')],
  ['an image that is not base64', { ...image, data: '!!!' }, named('image')],
  ['an odd MIME type', { ...image, mimeType: '../../etc' }, named('image')],
  ['a text that is none', { type: 'text', text: 5 }, named('text')],
  ['a resource without contents', { type: 'resource', resource: { uri: 'a:b' } }, named('resource')],
  ['no object', null, named('object')],
  ['a number', 5, named('number')],
])('gives %s so that a client can read it', (_what, part, block) => {
  expect(toContentBlocks([part as Part])).toEqual([block]);
});
