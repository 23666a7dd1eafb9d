import { describe, expect, it } from 'vitest';
import { nearest } from './nearest.ts';

const known = ['web_search', 'web_browse', 'run_script', 'schedule_task', 'list_tasks', 'Größe'];

describe('nearest', () => {
  it.each([
    ['web_serach', ['web_search']],
    ['webSearch', ['web_search']],
    ['RUN-SCRIPT', ['run_script']],
    ['task', ['list_tasks', 'schedule_task']],
    ['grösse', ['Größe']],
    ['zzzzzzzz', []],
    ['', []],
    ['___', []],
  ])('suggests for "%s"', (name, expected) => {
    expect(nearest(name, known)).toEqual(expected);
  });

  it('puts the same letters first and keeps to the limit', () => {
    expect(nearest('abcd', ['abcx', 'abc_d', 'abcde', 'abdc'], 2)).toEqual(['abc_d', 'abcde']);
  });
});
