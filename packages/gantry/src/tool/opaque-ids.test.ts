import { expect, it } from 'vitest';
import { createOpaqueIds, isOpaqueId, toNamedFile, withNamedFiles } from './opaque-ids.ts';

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

it('issues no id again that the model could read before, wherever it stood', () => {
  const seen = JSON.stringify([
    { text: 'look at media_1\nmedia_3:\tref_2, not at media_012345678901; and at "ref_1"' },
  ]);
  const ids = createOpaqueIds({ seen });
  expect(['a', 'b'].map((path) => ids.issue('media', path))).toEqual(['media_2', 'media_4']);
  expect(ids.issue('ref', 'c')).toBe('ref_3');
  expect(ids.resolve('media_3')).toBeUndefined();
});

it('issues ids of its form whatever numbers others have written', () => {
  const ids = createOpaqueIds({ seen: 'media_999999999 media_123456' });
  expect(isOpaqueId(ids.issue('media', 'a'))).toBe(true);
});

it.each(['media_0', 'media_01', 'media_', 'media_1x', ' media_1', 'ref_1\n', 'MEDIA_1', 7, undefined])(
  'takes %j for no id',
  (value) => expect(isOpaqueId(value)).toBe(false),
);

it('names a file by its id, and tells of nothing else what it stands for', () => {
  const ids = createOpaqueIds();
  const [file, message] = [ids.issue('media', 'a.png'), ids.issue('ref', '1187')];
  expect([file, message, 'media_9', 'b.png'].map((given) => toNamedFile(given, ids))).toEqual([
    'a.png',
    'ref_1',
    'media_9',
    'b.png',
  ]);
  expect(toNamedFile('media_1', undefined)).toBe('media_1');
});

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
