import { messageOf } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import type { Skills } from '../memory/skills.ts';
import { cutText } from '../text/cut.ts';
import { flattenText } from '../text/flatten.ts';
import type { ModelPort } from '../tool/model-port.ts';

const mostWords = 15;
const readChars = 8_000;

/** Writes the line of the index for skills that were just saved, behind the call that saved them. A failure leaves the line empty. */
export const createSkillSummaries =
  (options: { readonly model: ModelPort; readonly skills: Skills; readonly log: Log; readonly signal: AbortSignal }) =>
  ({ name, content }: { readonly name: string; readonly content: string }): void => {
    const { model, skills, log, signal } = options;
    const summarize = async (): Promise<void> => {
      const said = await model.complete({
        tier: 'low',
        isBackground: true,
        system: `Say in one line of at most ${mostWords} words when this procedure is to be used. Nothing else.`,
        prompt: cutText(content, readChars),
        signal,
      });
      const [line = ''] = said.trim().split('\n');
      const summary = flattenText(line).split(' ').slice(0, mostWords).join(' ');
      if (summary !== '') await skills.summarize(name, content, summary);
    };
    summarize().catch((error: unknown) => {
      if (!signal.aborted) log.warn({ skill: name, reason: messageOf(error) }, 'a skill has no summary yet');
    });
  };
