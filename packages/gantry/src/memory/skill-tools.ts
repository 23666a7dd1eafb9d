import * as z from 'zod';
import type { Clock } from '../kernel/clock.ts';
import { nearest } from '../kernel/nearest.ts';
import { flattenText } from '../text/flatten.ts';
import { defineTool } from '../tool/define-tool.ts';
import type { Tool } from '../tool/executor.ts';
import type { Freshness } from './skill-freshness.ts';
import type { KnownSkill, Skills } from './skills.ts';

const source = 'skills';
const name = z.string().min(1).describe('Such as "mcp/github" or "weekly-report".');
const dayMs = 24 * 3_600_000;

/** One line for each skill, and no line where there is none. */
export const skillIndex = (skills: readonly KnownSkill[], nowMs: number): string =>
  skills
    .map((skill) => {
      const age = Math.floor((nowMs - skill.savedAtMs) / dayMs);
      const used = skill.lastUsedAtMs === undefined ? 'never used' : `used ${daysAgo(nowMs - skill.lastUsedAtMs)}`;
      const notice = markerOf(skill.freshness);
      return `- ${skill.name} (${age === 0 ? 'new' : `${age} days old`}, ${used}): ${flattenText(skill.summary) || 'summary pending'}${notice === undefined ? '' : ` ${notice}`}`;
    })
    .join('\n');

/** Tells the reader of a skill that its server has changed since; undefined when nothing has to be told. */
export const markerOf = (freshness: Freshness): string | undefined => {
  switch (freshness.state) {
    case 'stale':
      return `[may be out of date: ${flattenText(freshness.reason)}; check before you rely on it, and save it again]`;
    case 'renamed':
      return `[the server is named "${flattenText(freshness.nowNamed)}" now; use that name, and save the skill under it]`;
    case 'fresh':
    case 'unknown':
      return undefined;
  }
};

/**
 * The tools by which a model writes procedures down and reads them in later conversations. `summarize`, where there is a model for it,
 * writes the one line of the index behind the call.
 */
export const skillTools = (
  skills: Skills,
  {
    clock,
    summarize,
  }: { readonly clock: Clock; readonly summarize?: ((skill: { name: string; content: string }) => void) | undefined },
): readonly Tool[] => {
  const index = async (): Promise<string> => {
    const known = await skills.list();
    return known.length === 0
      ? 'There are no skills yet.'
      : `${known.length} skill(s):\n${skillIndex(known, clock.nowMs())}`;
  };
  const missing = async (wanted: string): Promise<string> => {
    const near = nearest(
      wanted,
      (await skills.list()).map((skill) => skill.name),
    );
    return `There is no skill "${flattenText(wanted, { maxChars: 100 })}".${near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''} See list_skills.`;
  };
  return [
    defineTool({
      name: 'list_skills',
      description:
        'Lists the skills: procedures that were written down in earlier conversations. Read one with get_skill before a task that it is about.',
      source,
      annotations: { readOnlyHint: true, openWorldHint: false },
      input: z.strictObject({}),
      execute: index,
    }),
    defineTool({
      name: 'get_skill',
      description: 'Returns a skill: a procedure that was written down in an earlier conversation.',
      source,
      annotations: { readOnlyHint: true, openWorldHint: false },
      input: z.strictObject({ name }),
      execute: async ({ name }) => {
        const skill = await skills.read(name);
        if (!skill) return missing(name);
        const notice = markerOf(skill.freshness);
        return notice === undefined ? skill.content : `${notice}\n\n${skill.content}`;
      },
    }),
    defineTool({
      name: 'save_skill',
      description:
        'Writes a procedure down for later conversations: which tools, in which sequence, with which arguments, and what went wrong before. Saving under an existing name replaces it. Never put secrets or personal data in.',
      source,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      input: z.strictObject({ name, content: z.string().describe('The procedure as Markdown.') }),
      execute: async ({ name, content }) => {
        const skill = await skills.save(name, content);
        summarize?.(skill);
        return `Saved as "${skill.name}". ${await index()}`;
      },
    }),
    defineTool({
      name: 'delete_skill',
      description: 'Deletes a skill that is wrong or no longer needed.',
      source,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      input: z.strictObject({ name }),
      execute: async ({ name }) => ((await skills.delete(name)) ? `Deleted "${name}".` : missing(name)),
    }),
  ];
};

const daysAgo = (ms: number): string => {
  const days = Math.floor(ms / dayMs);
  return days === 0 ? 'today' : `${days} days ago`;
};
