import { isObject } from '../../kernel/json.ts';

/** An issue or pull request on GitHub, and where its API has it. */
export interface GithubItem {
  readonly kind: 'Issue' | 'PR';
  readonly owner: string;
  readonly repo: string;
  readonly number: string;
  readonly apiUrl: string;
}

/** The issue or pull request that a URL shows; undefined for every other page, lists of issues too. */
export const githubItemOf = (url: string): GithubItem | undefined => {
  const parsed = URL.parse(url);
  if (parsed === null || !/^(?:www\.)?github\.com$/.test(parsed.hostname) || !/^https?:$/.test(parsed.protocol))
    return undefined;
  const found = /^\/([\w.-]+)\/([\w.-]+)\/(issues|pull)\/(\d{1,10})(?:\/|$)/i.exec(parsed.pathname);
  if (!found) return undefined;
  const [, owner = '', repo = '', type = '', number = ''] = found;
  const isIssue = type.toLowerCase() === 'issues';
  return {
    kind: isIssue ? 'Issue' : 'PR',
    owner,
    repo,
    number,
    apiUrl: `https://api.github.com/repos/${owner}/${repo}/${isIssue ? 'issues' : 'pulls'}/${number}`,
  };
};

/** What the API says of an issue or pull request, as a page; undefined when it says something else. */
export const toGithubPage = (item: GithubItem, answer: unknown): { title: string; markdown: string } | undefined => {
  if (!isObject(answer) || typeof answer['title'] !== 'string') return undefined;
  const { kind, owner, repo, number } = item;
  const user = isObject(answer['user']) ? answer['user']['login'] : undefined;
  const labels = (Array.isArray(answer['labels']) ? answer['labels'] : [])
    .map((label: unknown) => (isObject(label) ? label['name'] : label))
    .filter((label) => typeof label === 'string');
  const body = typeof answer['body'] === 'string' && answer['body'].trim() !== '' ? answer['body'] : '(no description)';
  const lines = [
    `**Repository:** ${owner}/${repo}`,
    `**State:** ${stateOf(answer)}`,
    `**Author:** ${textOr(user, 'unknown')}`,
    `**Created:** ${textOr(answer['created_at'], 'unknown')}`,
    `**Updated:** ${textOr(answer['updated_at'], 'unknown')}`,
    ...(labels.length > 0 ? [`**Labels:** ${labels.join(', ')}`] : []),
    `**URL:** ${textOr(answer['html_url'], `https://github.com/${owner}/${repo}/${kind === 'Issue' ? 'issues' : 'pull'}/${number}`)}`,
  ];
  return {
    title: `${kind} #${number}: ${answer['title']} [${owner}/${repo}]`,
    markdown: `${lines.join('\n')}\n\n---\n\n${body.replaceAll('\r\n', '\n')}`,
  };
};

const stateOf = (answer: Readonly<Record<string, unknown>>): string =>
  typeof answer['merged_at'] === 'string' ? 'merged' : textOr(answer['state'], 'unknown');

const textOr = (value: unknown, otherwise: string): string =>
  typeof value === 'string' && value !== '' ? value : otherwise;
