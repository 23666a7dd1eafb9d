import { expect, it } from 'vitest';
import { createOpaqueIds, withNamedFiles, isOpaqueId } from './opaque-ids.ts';

it('gives a value one id, and knows what it stands for', () => {
  const ids = createOpaqueIds();
  expect([ids.issue('media', 'a.png'), ids.issue('media', 'b.png'), ids.issue('media', 'a.png')]).toEqual([
    'media_1',
    'media_2',
    'media_1',
  ]);
  expect(ids.issue('ref', 'a.png')).toBe('ref_1');
  expect(ids.resolve('media_2')).toBe('b.png');
  expect(ids.resolve('media_3')).toBeUndefined();
});

it('issues no number again that the model could read before', () => {
  const ids = createOpaqueIds({ seen: 'look at media_7, not at xmedia_9 or media_012345678901; and at "ref_2"' });
  expect([ids.issue('media', 'a'), ids.issue('ref', 'b')]).toEqual(['media_8', 'ref_3']);
  expect(ids.resolve('media_7')).toBeUndefined();
});

it.each(['media_0', 'media_01', 'media_', 'media_1x', ' media_1', 'ref_1\n', 'MEDIA_1', 7, undefined])(
  'takes %j for no id',
  (value) => expect(isOpaqueId(value)).toBe(false),
);

it('says behind a text which files it names, and nothing of other ids or of what was not issued', () => {
  const ids = createOpaqueIds();
  for (const path of ['a.png', 'b.png', 'c.png']) ids.issue('media', path);
  ids.issue('ref', '1187');
  expect(withNamedFiles('put media_3 over media_1 as media_3 of ref_1, not media_9', ids)).toBe(
    'put media_3 over media_1 as media_3 of ref_1, not media_9\n\nFiles that are named by their ids:\n- media_3: `c.png`\n- media_1: `a.png`',
  );
  expect(withNamedFiles('ref_1', ids)).toBe('ref_1');
  expect(withNamedFiles('media_1', undefined)).toBe('media_1');
});
