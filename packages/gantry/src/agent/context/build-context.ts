import type { ModelMessage } from 'ai';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { StoredTurn, UserTurn } from '../../memory/conversation-turn.ts';
import { lifeOf } from '../../memory/memory-texts.ts';
import type { KnownSkill } from '../../memory/skills.ts';
import { markerOf } from '../../memory/skill-tools.ts';
import type { WorkingMemory } from '../../memory/working-memory.ts';
import { flattenText } from '../../text/flatten.ts';
import type { OpaqueIds } from '../../tool/opaque-ids.ts';
import { createSkillRecall } from './recall-skills.ts';
import { toMessages, userText } from './turn-messages.ts';

/** Finds services that fit what was asked, as lines for the model; undefined where none does. A port: discovery plugs in here. */
export type ServiceHints = (asked: {
  readonly text: string;
  readonly namespace: string;
  readonly workspace: string | undefined;
}) => Promise<string | undefined>;

/** A message, or whatever else has an id of its own, that what was said is about. */
export interface ReferredTo {
  /** The id by which tools know it. */
  readonly id: string;
  /** What the model is told of it, such as who wrote it and how it begins. */
  readonly about: string;
}

/** Where a turn's context comes from. */
export interface ContextSources {
  readonly clock: Clock;
  readonly log: Log;
  /** IANA name of the zone that dates are told in; asked for each time. */
  readonly timeZone: () => string | Promise<string>;
  readonly memory: Pick<WorkingMemory, 'list'>;
  readonly skills?: (() => Promise<readonly KnownSkill[]>) | undefined;
  /** The most skills whose text comes with a message because they fit it; default 5. */
  readonly recalledSkills?: number | undefined;
  /** What the model is told beside the first message of a conversation. */
  readonly sessionStart?: string | undefined;
  readonly hints?: ServiceHints | undefined;
}

/** What a turn begins with. */
export interface TurnContext {
  /** Behind the system prompt: what stays the same for a day, so that providers can cache it. */
  readonly systemTail: () => string;
  readonly messages: readonly ModelMessage[];
}

const mostKeys = 40;
const mostSkills = 60;

/**
 * Puts together what the model knows at the start of a turn: the day and the skills behind the system prompt; the conversation; and with
 * the new message the time, skills and services that fit it, and the keys (never the values) of its working memory. What changes with each turn stands with the
 * new message, so that everything before it can be read from the provider's cache. A source that fails is left out, with a warning.
 */
export const createContextBuilder = (sources: ContextSources) => {
  const { clock, log, timeZone, memory, skills, sessionStart, hints } = sources;
  const recall = createSkillRecall({ most: sources.recalledSkills ?? 5 });
  return async (asked: {
    readonly namespace: string;
    readonly workspace: string | undefined;
    /** What was said before, oldest first. */
    readonly turns: readonly StoredTurn[];
    readonly turn: UserTurn;
    readonly refersTo?: readonly ReferredTo[] | undefined;
    /** Of the turn: names its attachments, and what it refers to. Absent: it has neither. */
    readonly ids?: OpaqueIds | undefined;
    readonly provider: string | undefined;
  }): Promise<TurnContext> => {
    const { namespace, workspace, turns, turn, refersTo = [], ids, provider } = asked;
    const orNothing = async <T>(what: string, read: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await read();
      } catch (error) {
        log.warn({ namespace, reason: messageOf(error) }, `the ${what} are missing in the context of a turn`);
        return undefined;
      }
    };
    const [zone, known, entries, services] = await Promise.all([
      timeZone(),
      orNothing('skills', async () => (await skills?.()) ?? []),
      orNothing('keys of working memory', () => memory.list(namespace)),
      orNothing('service hints', async () => hints?.({ text: turn.text, namespace, workspace })),
    ]);

    const inventory = (entries ?? []).slice(0, mostKeys).map((entry) => {
      const facts = [lifeOf(entry, clock.nowMs()), entry.category, entry.tags?.join(', ')].filter(Boolean);
      return `- \`${entry.key}\` (${flattenText(facts.join('; '))})`;
    });
    const now = new Date(clock.nowMs());
    const isFirst = turns.length === 0;
    // One that begins anew, under an id that was there before, knows of nothing.
    if (isFirst) recall.forget(namespace);
    const block = [
      `Now: ${formatted(now, zone, { dateStyle: 'full', timeStyle: 'short' })} (${zone}).`,
      isFirst ? sessionStart : undefined,
      recall.take(namespace, turn.text, known ?? []),
      services,
      ids && namedText(ids, turn.attachments ?? [], refersTo),
      inventory.length > 0 &&
        `Working memory (read with get_from_working_memory${(entries?.length ?? 0) > mostKeys ? `; the newest ${mostKeys} of ${entries?.length}` : ''}):\n${inventory.join('\n')}`,
    ].filter((part) => typeof part === 'string' && part !== '');
    const message: ModelMessage = {
      role: 'user',
      content: `<context note="written by the system, not by the user">\n${block.join('\n\n')}\n</context>\n\n${userText(turn)}`,
    };
    return {
      systemTail: () =>
        [
          // The day only: with the time in it, no request would find the one before in the cache.
          `Today is ${formatted(new Date(clock.nowMs()), zone, { dateStyle: 'full' })} (${zone}).`,
          known && known.length > 0 ? skillsText(known) : undefined,
        ]
          .filter((part) => part !== undefined)
          .join('\n\n'),
      messages: [...toMessages(turns, provider), message],
    };
  };
};

/** What came with a message, under ids that a small model can repeat without a mistake. */
const namedText = (
  ids: OpaqueIds,
  attachments: readonly string[],
  refersTo: readonly ReferredTo[],
): string | undefined => {
  const files = [...new Set(attachments)].map((path) => `- ${ids.issue('media', path)}: \`${path}\``);
  const others = refersTo.map(({ id, about }) => `- ${ids.issue('ref', id)}: ${flattenText(about)}`);
  const parts = [
    ...(files.length > 0 ? ['Attached files, by their ids in this turn:', ...files] : []),
    ...(others.length > 0 ? ['Messages that the message refers to, by their ids in this turn:', ...others] : []),
  ];
  return parts.length === 0 ? undefined : parts.join('\n');
};

const formatted = (date: Date, timeZone: string, style: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat('en-GB', { ...style, timeZone }).format(date);

const skillsText = (skills: readonly KnownSkill[]): string => {
  const lines = skills.slice(0, mostSkills).map(({ name, summary, freshness }) => {
    const notice = markerOf(freshness);
    return `- ${name}${summary === '' ? '' : `: ${flattenText(summary)}`}${notice === undefined ? '' : ` ${notice}`}`;
  });
  const more = skills.length - lines.length;
  return [
    '# Skills',
    'Procedures from earlier conversations. Before a task that one is about, read it with get_skill.',
    ...lines,
    ...(more > 0 ? [`${more} more: list_skills.`] : []),
  ].join('\n');
};
