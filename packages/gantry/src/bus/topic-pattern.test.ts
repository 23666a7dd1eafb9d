import { describe, expect, it } from 'vitest';
import { parseTopicPattern } from './topic-pattern.ts';

describe('parseTopicPattern', () => {
  it.each([
    ['agent.*', 'agent.task', true],
    ['agent.*', 'agent', false],
    ['agent.*', 'agent.task.x', false],
    ['agent.#', 'agent', true],
    ['agent.#', 'agent.task', true],
    ['agent.#', 'agent.task.x', true],
    ['agent.#', 'agents', false],
    ['#', 'anything.at.all', true],
    ['#', '', true],
    ['*', 'a', true],
    ['*', 'a.b', false],
    ['*.*', 'a.b', true],
    ['#.result', 'result', true],
    ['#.result', 'tool.mcp.result', true],
    ['#.result', 'tool.result.a', false],
    ['a.#.z', 'a.z', true],
    ['a.#.z', 'a.b.c.z', true],
    ['a.#.z', 'a.b.z.c', false],
    ['a.#.b.#.c', 'a.b.x.b.c', true],
    ['#.a.#.b', 'x.a.b.a.c.b', true],
    ['#.*', '', true],
    ['a.#.*', 'a', false],
    ['a.#.#', 'a', true],
    ['a.b*', 'a.bc', false],
    ['a.b*', 'a.b*', true],
    ['Agent.task', 'agent.task', false],
    ['a.b', 'a.b', true],
  ])('%s against %s: %s', (pattern, topic, expected) => {
    expect(parseTopicPattern(pattern).matches(topic)).toBe(expected);
  });

  it.each([
    ['a.b', true],
    ['a.b*', true],
    ['a.*', false],
    ['#', false],
  ])('knows whether %s is free of wildcards', (pattern, isExact) => {
    expect(parseTopicPattern(pattern).isExact).toBe(isExact);
  });

  it('is quick on patterns made to backtrack', () => {
    const pattern = parseTopicPattern(`${'#.a.'.repeat(30)}b`);
    expect(pattern.matches('a.'.repeat(2_000).slice(0, -1))).toBe(false);
  });
});
