import { expect, it } from 'vitest';
import { topics, toTopicSegment } from './topics.ts';

it('puts plain names into topics as they are', () => {
  expect(topics.toolResultOf('desk-1')).toBe('tool.result.desk-1');
});

it.each([
  ['a.b', 'a%2Eb'],
  ['*', '%2A'],
  ['#', '%23'],
  ['a b/c', 'a%20b%2Fc'],
])('keeps %s within one segment', (name, segment) => {
  expect(toTopicSegment(name)).toBe(segment);
});
