import { otherCaseOf } from '../../wire/other-case.ts';

/** What a question wants of a person, or why nobody can say. */
export type QuestionKind = { readonly kind: 'form' | 'page' } | { readonly problem: string };

/**
 * Tells forms from pages by the parameters of `elicitation/create`. What has members of both, or others, is neither: one reader would show
 * what another has looked past.
 */
export const questionKind = (params: Readonly<Record<string, unknown>>): QuestionKind => {
  const { mode = 'form' } = params;
  if (mode !== 'form' && mode !== 'url') return { problem: 'it is neither a form nor a page to open' };
  if (inOtherCase(params) !== undefined) return { problem: 'its members are not those of a question' };
  const own = mode === 'form' ? formMembers : pageMembers;
  const other = Object.keys(params).find((key) => !own.has(key));
  if (other !== undefined && (formMembers.has(other) || pageMembers.has(other)))
    return { problem: 'it is a page and a form at once' };
  if (other !== undefined) return { problem: 'its members are not those of a question' };
  return { kind: mode === 'form' ? 'form' : 'page' };
};

// MCP 2025-11-25 and 2026-07-28, `ElicitRequestFormParams` and `ElicitRequestURLParams`.
const shared = ['mode', 'message', '_meta', 'task'];
const formMembers: ReadonlySet<string> = new Set([...shared, 'requestedSchema']);
const pageMembers: ReadonlySet<string> = new Set([...shared, 'url', 'elicitationId']);
const inOtherCase = otherCaseOf([...formMembers, ...pageMembers]);
