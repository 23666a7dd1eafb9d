import { describe, expect, it } from 'vitest';
import { isOver, olderTaskIn, pollIntervalOf, relatedTo, toNewerTask, toOlderTask } from './task-forms.ts';

const times = { createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2026-01-01T00:00:01Z' };

describe('a task', () => {
  it.each([
    [
      { taskId: 'a', status: 'working', statusMessage: 'digging', ...times, ttl: 60_000, pollInterval: 500 },
      { status: 'working', statusMessage: 'digging', ...times, ttlMs: 60_000, pollIntervalMs: 500 },
    ],
    [
      { taskId: 'a', status: 'completed', ...times, ttl: null },
      { status: 'completed', ...times, ttlMs: null },
    ],
    [
      { taskId: 'a', status: 'cancelled', _meta: { hop: 1 } },
      { status: 'cancelled', ttlMs: null },
    ],
    [
      {
        taskId: 'a',
        status: 'working',
        resultType: 'input_required',
        inputRequests: { q: {} },
        requestState: 's',
        result: {},
      },
      { status: 'working', ttlMs: null },
    ],
    [
      { taskId: 'a', status: 'working', InputRequests: { q: {} }, error: {} },
      { status: 'working', ttlMs: null },
    ],
  ])('of 2025 in the words of 2026 (%#)', (older, newer) => {
    expect(toNewerTask(older, 'b')).toEqual({ taskId: 'b', ...newer });
  });

  it.each([
    [
      { status: 'working', content: [], ttlMs: 60_000, pollIntervalMs: 500 },
      { status: 'working', ttl: 60_000, pollInterval: 500 },
    ],
    [
      { status: 'input_required', ttlMs: null, inputRequests: { q: {} }, requestState: 's' },
      { status: 'input_required', ttl: null },
    ],
    [
      { status: 'completed', ttlMs: null, result: { content: [] } },
      { status: 'completed', ttl: null },
    ],
    // MCP 2025-11-25 counts a result that is an error as a failure, SEP-2663 does not.
    [
      { status: 'completed', ttlMs: null, result: { isError: true } },
      { status: 'failed', ttl: null },
    ],
    [
      { status: 'failed', ttlMs: null, error: { code: -1, message: 'no' } },
      { status: 'failed', ttl: null },
    ],
  ])('of 2026 in the words of 2025 (%#)', (newer, older) => {
    expect(toOlderTask({ resultType: 'complete', taskId: 'a', ...times, ...newer, _meta: { hop: 1 } })).toEqual({
      taskId: 'a',
      ...times,
      ...older,
    });
  });

  it.each([
    ['working', false],
    ['input_required', false],
    ['completed', true],
    ['failed', true],
    ['cancelled', true],
  ])('that is %s is over: %s', (status, over) => {
    expect(isOver({ status })).toBe(over);
  });

  it('is found in the answer that makes one, and in no other', () => {
    expect(olderTaskIn({ task: { taskId: 'a' } })).toEqual({ taskId: 'a' });
    for (const answer of [{}, { task: 'a' }, { task: { taskId: 1 } }, { content: [] }])
      expect(olderTaskIn(answer)).toBeUndefined();
  });

  it('marks what belongs to it, beside what is marked already', () => {
    expect(relatedTo('a', { content: [], _meta: { kept: 1 } })).toEqual({
      content: [],
      _meta: { kept: 1, 'io.modelcontextprotocol/related-task': { taskId: 'a' } },
    });
  });

  it('is asked for as often as its server says, but 20 times a second at most', () => {
    expect([undefined, 'x', 1, 700].map(pollIntervalOf)).toEqual([1_000, 1_000, 50, 700]);
  });

  // A client of either generation waits by a timer, which takes most of these for no time at all.
  it.each([0, -1, 1e-9, 1e15, Number.POSITIVE_INFINITY])('is asked for as if its server had not said %s', (ms) => {
    expect(pollIntervalOf(ms)).toBe(1_000);
    expect(toNewerTask({ pollInterval: ms }, 'b')).not.toHaveProperty('pollIntervalMs');
    expect(toOlderTask({ pollIntervalMs: ms })).not.toHaveProperty('pollInterval');
  });

  it.each([-1, 1e300, Number.POSITIVE_INFINITY])('that is said to be kept for %s ms is kept without a limit', (ms) => {
    expect(toNewerTask({ ttl: ms }, 'b')).toMatchObject({ ttlMs: null });
    expect(toOlderTask({ ttlMs: ms })).toMatchObject({ ttl: null });
  });
});
