import type { TurnStep } from '../../memory/conversation-turn.ts';

const mostPatterns = 5;

/** Calls that worked more than once with the same parameters, as `tool(a, b) ×3`, most frequent first. */
export const convergedPatterns = (steps: readonly TurnStep[]): readonly string[] => {
  const counts = new Map<string, number>();
  for (const { name, arguments: args, status } of steps.flatMap(({ calls }) => calls)) {
    if (status !== 'done') continue;
    const form = `${name}(${Object.keys(args).sort().join(', ')})`;
    counts.set(form, (counts.get(form) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > 1)
    .sort(([, a], [, b]) => b - a)
    .slice(0, mostPatterns)
    .map(([form, count]) => `${form} ×${count}`);
};
