import type { ModelMessage, ToolModelMessage } from 'ai';
import { cutIndex, cutText } from '../../text/cut.ts';
import type { StashText } from '../../tool/ports.ts';
import { outputText } from './plain-messages.ts';

type ResultPart = Extract<ToolModelMessage['content'][number], { type: 'tool-result' }>;

/** A result that was shortened in the messages, and where the whole of it is. */
export interface Stashed {
  readonly callId: string;
  readonly tool: string;
  readonly argumentsText: string;
  readonly key: string;
}

/** Shortens results of tools until messages fit; knows what it has stashed in this turn. */
export interface FitMessages {
  /**
   * The messages with their largest results shortened until they have at most `maxChars`, or nothing is left to shorten. None is added or
   * removed; what is not a result stays as it is.
   */
  fit(messages: readonly ModelMessage[], maxChars: number): Promise<readonly ModelMessage[]>;
  /** The messages with every result that is longer than `maxChars` shortened to that length. */
  cap(messages: readonly ModelMessage[], maxChars: number): Promise<readonly ModelMessage[]>;
  /** What the model is told about the stashed ones; empty where there are none. */
  notice(): string;
}

const smallestResult = 200;
/** What the marker of a shortened result takes, about. */
const markerRoom = 160;
const stashTtlMs = 60 * 60_000;
const headShare = 0.6;
const argumentChars = 200;
const imageChars = 4_000;

/** How long messages are, in characters; images and other files count a fixed weight. */
export const lengthOf = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, message) => sum + messageLength(message), 0);

/** Makes the shortener of one turn. */
export const createFitMessages = (options: {
  readonly stash: StashText;
  /** Whose results they are: `session/{id}` … */
  readonly namespace: string;
  /** Results that were read from where they would be stashed to; they are never shortened. */
  readonly isExempt: (tool: string) => boolean;
  /** Results that are shortened when nothing else is left, such as files. */
  readonly isLast: (tool: string) => boolean;
}): FitMessages => {
  const { stash, namespace, isExempt, isLast } = options;
  const stashed = new Map<string, Stashed>();
  // What is shortened again is shortened from the whole, so that its marker tells the truth.
  const wholes = new Map<string, string>();

  const keep = async (part: ResultPart, text: string, argumentsText: string): Promise<string | undefined> => {
    const { toolCallId: callId, toolName: tool } = part;
    const known = stashed.get(callId);
    if (known) return known.key;
    const key = await stash({
      namespace: 'stash',
      key: `${namespace.replace(/^session\//, '') || '_'}/${callId}`,
      text,
      category: 'tool-result',
      ttlMs: stashTtlMs,
    });
    if (key !== undefined) stashed.set(callId, { callId, tool, argumentsText, key });
    return key;
  };

  const shorten = async (
    part: ResultPart,
    shown: string,
    target: number,
    argumentsText: string,
  ): Promise<ResultPart> => {
    const text = wholes.get(part.toolCallId) ?? shown;
    wholes.set(part.toolCallId, text);
    const key = await keep(part, text, argumentsText);
    const marker = `\n[… ${text.length - target} characters of this result (call ${part.toolCallId}) are left out here${key === undefined ? '' : `; the whole is at \`${key}\``} …]\n`;
    const room = Math.max(smallestResult, target);
    const head = cutText(text, Math.floor(room * headShare));
    const tail = text.slice(cutIndex(text, text.length - Math.floor(room * (1 - headShare))));
    return {
      ...part,
      output: { type: part.output.type === 'error-text' ? 'error-text' : 'text', value: `${head}${marker}${tail}` },
    };
  };

  /** The messages with one result of them shortened; their number and everything else stays. */
  const withShorter = async (
    messages: readonly ModelMessage[],
    { at, index, part, text }: Found,
    target: number,
  ): Promise<ModelMessage[]> => {
    const before = messages[at];
    const replaced = (message: ModelMessage): ModelMessage[] =>
      messages.map((other, place) => (place === at ? message : other));
    if (!part) return replaced({ role: 'user', content: shortenedText(text, target) });
    if (before?.role !== 'tool') return [...messages];
    const shorter = await shorten(part, text, target, argumentsOf(messages, part.toolCallId));
    return replaced({ ...before, content: before.content.map((other, place) => (place === index ? shorter : other)) });
  };

  return {
    fit: async (messages, maxChars) => {
      let fitted = [...messages];
      let length = lengthOf(fitted);
      const done = new Set<string>();
      while (length > maxChars) {
        const largest =
          largestOf(fitted, (tool) => !isExempt(tool) && !isLast(tool), done) ?? largestOf(fitted, isLast, done);
        if (!largest) break;
        const over = length - maxChars;
        // A little more than needed, because the marker takes room too.
        const target = Math.max(smallestResult, largest.text.length - over - 400);
        if (target === smallestResult) done.add(largest.id);
        fitted = await withShorter(fitted, largest, target);
        const now = lengthOf(fitted);
        // Whatever the texts are: each round gains, or takes one result out of the choice.
        if (now >= length) done.add(largest.id);
        length = now;
      }
      return fitted;
    },
    cap: async (messages, maxChars) => {
      let capped = [...messages];
      for (const found of resultsIn(messages))
        if (found.text.length > maxChars && !isExempt(found.tool))
          capped = await withShorter(capped, found, Math.max(smallestResult, maxChars - markerRoom));
      return capped;
    },
    notice: () =>
      stashed.size === 0
        ? ''
        : [
            '# Shortened results',
            'These results were shortened to fit. Read the whole with get_from_working_memory when you need what was left out:',
            ...[...stashed.values()].map(
              ({ callId, tool, argumentsText, key }) => `- ${callId}: ${tool}(${argumentsText}) → \`${key}\``,
            ),
          ].join('\n'),
  };
};

/** A result in messages. */
interface Found {
  readonly at: number;
  readonly index: number;
  /** Its call, or its message where it stands there as text. */
  readonly id: string;
  readonly tool: string;
  /** Absent where it stands as text, without the id of a call. */
  readonly part?: ResultPart | undefined;
  readonly text: string;
}

/** How the results of calls that a model wrote as text begin. */
const textResult = /^\[Tool result for ([^\]]+)\]: /;

const resultsIn = (messages: readonly ModelMessage[]): readonly Found[] =>
  messages.flatMap((message, at): readonly Found[] => {
    if (message.role === 'user' && typeof message.content === 'string') {
      const [, tool] = textResult.exec(message.content) ?? [];
      return tool === undefined ? [] : [{ at, index: 0, id: `message ${at}`, tool, text: message.content }];
    }
    if (message.role !== 'tool') return [];
    return message.content.flatMap((part, index): readonly Found[] =>
      part.type === 'tool-result'
        ? [{ at, index, id: part.toolCallId, tool: part.toolName, part, text: outputText(part.output) }]
        : [],
    );
  });

const largestOf = (
  messages: readonly ModelMessage[],
  isWanted: (tool: string) => boolean,
  done: ReadonlySet<string>,
): Found | undefined => {
  let largest: Found | undefined;
  for (const found of resultsIn(messages)) {
    const { id, tool, text } = found;
    if (done.has(id) || !isWanted(tool) || text.length <= smallestResult) continue;
    if (text.length > (largest?.text.length ?? 0)) largest = found;
  }
  return largest;
};

/** Without the id of a call nobody could find the whole again, so it is not kept. */
const shortenedText = (text: string, target: number): string =>
  `${cutText(text, target)}\n[result truncated — ${text.length - target} chars omitted]`;

const argumentsOf = (messages: readonly ModelMessage[], callId: string): string => {
  for (const message of messages) {
    if (message.role !== 'assistant' || typeof message.content === 'string') continue;
    const call = message.content.find((part) => part.type === 'tool-call' && part.toolCallId === callId);
    if (call?.type !== 'tool-call') continue;
    const text = JSON.stringify(call.input) ?? '';
    return text.length > argumentChars ? `${cutText(text, argumentChars)}…` : text;
  }
  return '';
};

const messageLength = (message: ModelMessage): number => {
  if (typeof message.content === 'string') return message.content.length;
  let sum = 0;
  for (const part of message.content)
    switch (part.type) {
      case 'text':
      case 'reasoning':
        sum += part.text.length;
        break;
      case 'tool-call':
        sum += part.toolName.length + (JSON.stringify(part.input)?.length ?? 0);
        break;
      case 'tool-result':
        sum += outputText(part.output).length;
        break;
      default:
        sum += imageChars;
    }
  return sum;
};
