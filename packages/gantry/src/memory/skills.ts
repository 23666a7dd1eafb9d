import type { Clock } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import type { Documents } from '../store/documents.ts';
import type { Freshness, ServerBaseline, ServerNow } from './skill-freshness.ts';
import { baselineOf, freshnessOf } from './skill-freshness.ts';

/** A procedure that the agent has written down for later conversations. */
export interface Skill {
  /** Lower case; words divided by `-`, groups by `/`: `mcp/github`. */
  readonly name: string;
  /** Markdown. */
  readonly content: string;
  /** One line; empty while it is being written. */
  readonly summary: string;
  readonly savedAtMs: number;
  readonly lastUsedAtMs?: number | undefined;
  /** The server that it is about, as it was then. */
  readonly baseline?: ServerBaseline | undefined;
}

/** A skill and whether the server that it is about is still the one that it was written for. */
export interface KnownSkill extends Skill {
  readonly freshness: Freshness;
}

/** What the agent has written down. */
export interface Skills {
  /** Sorted by name. */
  list(): Promise<readonly KnownSkill[]>;
  /** A skill, in any case of its name; undefined when there is none. Reading it is use. */
  read(name: string): Promise<KnownSkill | undefined>;
  /**
   * Writes or replaces a skill; its summary is empty until {@link Skills.summarize}.
   * @throws {GantryError} `memory_refused` for a name or content that cannot be kept.
   */
  save(name: string, content: string): Promise<Skill>;
  /** Sets the summary of a skill that still has this content. */
  summarize(name: string, content: string, summary: string): Promise<void>;
  /** True when there was one. */
  delete(name: string): Promise<boolean>;
}

const maxContentChars = 64_000;
const maxSkills = 500;
const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\/[a-z0-9]+(?:-[a-z0-9]+)*){0,3}$/;

/** The name as it is stored: lower case, with `-` for blanks and other marks. */
export const toSkillName = (name: string): string =>
  name
    .toLowerCase()
    .split('/')
    .map((part) => part.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, ''))
    .join('/');

/** Makes the shelf. `servers` gives the MCP servers as they are now, for the skills about them. */
export const createSkills = (options: {
  readonly documents: Documents<Omit<Skill, 'name'>>;
  readonly clock: Clock;
  readonly servers?: (() => readonly ServerNow[]) | undefined;
}): Skills => {
  const { documents, clock, servers = () => [] } = options;

  const known = (name: string, skill: Omit<Skill, 'name'>): KnownSkill => ({
    ...skill,
    name,
    freshness: freshnessOf(skill.baseline, servers()),
  });

  return {
    list: async () => (await documents.list()).map(({ id, value }) => known(id, value)),
    read: async (name) => {
      const id = toSkillName(name);
      const stored = await documents.get(id);
      if (!stored) return undefined;
      await documents.put(id, { ...stored.value, lastUsedAtMs: clock.nowMs() });
      return known(id, stored.value);
    },
    save: async (name, content) => {
      const id = toSkillName(name);
      if (!namePattern.test(id) || id.length > 100)
        throw refused(
          name,
          `"${name.slice(0, 100)}" is no name for a skill; use lower-case words such as "mcp/github" or "weekly-report".`,
        );
      if (content.trim() === '') throw refused(id, `Skill "${id}" was not saved: its content is blank.`);
      if (content.length > maxContentChars)
        throw refused(
          id,
          `Skill "${id}" was not saved: it has ${content.length} characters and ${maxContentChars} are the most. Keep the procedure and leave the data out.`,
        );
      const before = await documents.get(id);
      if (!before && (await documents.list()).length >= maxSkills)
        throw refused(
          id,
          `Skill "${id}" was not saved: there are ${maxSkills} skills, which is the most. Delete one first.`,
        );
      const skill = {
        content,
        summary: '',
        savedAtMs: clock.nowMs(),
        lastUsedAtMs: before?.value.lastUsedAtMs,
        baseline: baselineOf(id, servers()),
      };
      await documents.put(id, skill);
      return { ...skill, name: id };
    },
    summarize: async (name, content, summary) => {
      const id = toSkillName(name);
      const stored = await documents.get(id);
      // It may have been written anew, or deleted, while the summary was made.
      if (stored?.value.content === content)
        await documents.put(id, { ...stored.value, summary }, { ifRevision: stored.revision });
    },
    delete: (name) => documents.delete(toSkillName(name)),
  };
};

const refused = (key: string, message: string): GantryError =>
  new GantryError('memory_refused', message, { details: { key } });
