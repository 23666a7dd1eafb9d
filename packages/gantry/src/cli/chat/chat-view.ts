import type { SessionEvent } from '../../agent/sessions/session-events.ts';
import type { Clock } from '../../kernel/clock.ts';
import { toCell } from '../output/printable.ts';
import { cutToWidth } from '../output/printable.ts';
import type { Printer } from '../output/printer.ts';

/** Shows a turn at a terminal as it happens: the answer in one place, what tools do in another (which may be the same). */
export interface ChatView {
  show(event: SessionEvent): void;
  /** The last line is complete, so that what follows begins on a line of its own. */
  endLine(): void;
}

const lineColumns = 100;
const progressEveryMs = 1000;

/** Makes a view. `words` takes the answer as it is streamed, `lines` whole lines about everything else. */
export const createChatView = (options: {
  readonly words: (text: string) => void;
  readonly lines: (line: string) => void;
  /** Both end up on the same screen. */
  readonly isShared: boolean;
  readonly printer: Pick<Printer, 'style' | 'foreign'>;
  readonly clock: Clock;
}): ChatView => {
  const { words, lines, isShared, printer, clock } = options;
  const { style, foreign } = printer;
  const progressAt = new Map<string, number>();
  let isInLine = false;
  let isThinking = false;
  let hasSaid = false;

  const endLine = (): void => {
    if (isInLine) words('\n');
    isInLine = false;
  };
  const line = (text: string): void => {
    if (isShared) endLine();
    lines(text);
  };
  const dim = (text: string): string => style('dim', text);

  return {
    endLine,
    show: (event) => {
      if (event.type !== 'reasoning') isThinking = false;
      switch (event.type) {
        case 'text':
          // Words after calls are a new paragraph.
          if (!isInLine && hasSaid && event.text.trim() === '') return;
          words(foreign(event.text));
          isInLine = !event.text.endsWith('\n');
          hasSaid = true;
          return;
        case 'reasoning':
          if (!isThinking) line(dim('  … thinking'));
          isThinking = true;
          return;
        case 'again':
          line(dim(`  … once more: ${toCell(event.reason)}`));
          return;
        case 'waiting':
          line(dim(`  … waiting: ${toCell(event.reason)}`));
          return;
        case 'model':
          line(dim(`  … goes on with ${toCell(event.model)} (${event.tier})`));
          return;
        case 'still-working':
          line(style('yellow', `  … still working, after ${event.iterations} rounds of calls; Ctrl-C stops the turn`));
          return;
        case 'tool-start':
          endLine();
          line(dim(cutToWidth(`  → ${toCell(event.name)}${argumentsText(event.arguments)}`, lineColumns)));
          return;
        case 'tool-progress': {
          const { id, name, progress } = event;
          const now = clock.elapsedMs();
          if (now - (progressAt.get(id) ?? -progressEveryMs) < progressEveryMs) return;
          progressAt.set(id, now);
          line(dim(cutToWidth(`  … ${toCell(name)} ${progressText(progress)}`, lineColumns)));
          return;
        }
        case 'tool-end': {
          progressAt.delete(event.id);
          const seconds = `${(event.durationMs / 1000).toFixed(event.durationMs < 10_000 ? 1 : 0)} s`;
          const name = toCell(event.name);
          if (event.status === 'failed')
            line(style('red', cutToWidth(`  ✗ ${name} ${seconds}: ${toCell(event.result)}`, lineColumns)));
          else if (event.status === 'parked')
            line(
              style(
                'yellow',
                `  ⏸ ${name} ${seconds}: ${event.handle?.kind === 'task' ? 'goes on in the background' : 'its server asks something'}`,
              ),
            );
          else line(dim(`  ✓ ${name} ${seconds}`));
          return;
        }
        case 'notice':
          line(style('yellow', toCell(event.text)));
          return;
        case 'turn-start':
          hasSaid = false;
          if (event.origin === 'notice') line(dim(cutToWidth(`  ⏎ ${toCell(event.text)}`, lineColumns)));
          return;
        case 'turn-end':
        case 'turn-failed':
          endLine();
      }
    },
  };
};

const argumentsText = (args: Readonly<Record<string, unknown>>): string =>
  Object.keys(args).length === 0 ? '' : ` ${toCell(JSON.stringify(args))}`;

const progressText = ({
  progress,
  total,
  message,
}: {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}): string => {
  const share = total === undefined || total <= 0 ? `${progress}` : `${Math.round((progress / total) * 100)} %`;
  return message === undefined ? share : `${share} ${toCell(message)}`;
};
