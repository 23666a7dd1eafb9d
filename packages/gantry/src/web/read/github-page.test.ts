import { describe, expect, it } from 'vitest';
import { githubItemOf, toGithubPage } from './github-page.ts';

describe('githubItemOf', () => {
  it.each([
    ['https://github.com/o/r/issues/12', 'https://api.github.com/repos/o/r/issues/12'],
    ['https://GitHub.com/o/r.js/issues/12/', 'https://api.github.com/repos/o/r.js/issues/12'],
    ['http://www.github.com/o/r/pull/3/files?w=1#issuecomment-1', 'https://api.github.com/repos/o/r/pulls/3'],
  ])('routes %s', (url, api) => {
    expect(githubItemOf(url)?.apiUrl).toBe(api);
  });

  it.each([
    'https://github.com/o/r/issues',
    'https://github.com/o/r/issues/new',
    'https://github.com/o/r',
    'https://github.com/o/r/pulls/3',
    'https://github.com.evil.example/o/r/issues/1',
    'ftp://github.com/o/r/issues/1',
    'nonsense',
  ])('leaves %s alone', (url) => {
    expect(githubItemOf(url)).toBeUndefined();
  });
});

describe('toGithubPage', () => {
  const item = githubItemOf('https://github.com/o/r/pull/3');
  if (!item) throw new Error('a pull request is needed');

  it('writes title, facts and description', () => {
    const page = toGithubPage(item, {
      title: 'Fix it',
      state: 'closed',
      merged_at: '2026-01-02',
      user: { login: 'ann' },
      created_at: '2026-01-01',
      labels: [{ name: 'bug' }, 'ui'],
      body: 'What\r\nfor',
      html_url: 'https://github.com/o/r/pull/3',
    });
    expect(page?.title).toBe('PR #3: Fix it [o/r]');
    expect(page?.markdown).toBe(
      '**Repository:** o/r\n**State:** merged\n**Author:** ann\n**Created:** 2026-01-01\n**Updated:** unknown\n**Labels:** bug, ui\n**URL:** https://github.com/o/r/pull/3\n\n---\n\nWhat\nfor',
    );
  });

  it('stands in for what is missing, and leaves out what is empty', () => {
    const page = toGithubPage(item, { title: 'T', body: null, labels: [] });
    expect(page?.markdown).toContain('(no description)');
    expect(page?.markdown).toContain('**Author:** unknown');
    expect(page?.markdown).not.toContain('Labels');
  });

  it('gives nothing for an answer that is no item', () => {
    expect(toGithubPage(item, { message: 'Not Found' })).toBeUndefined();
    expect(toGithubPage(item, [])).toBeUndefined();
  });
});
