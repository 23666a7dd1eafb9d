import type { ModelMessage, ToolModelMessage } from 'ai';

type ResultPart = Extract<ToolModelMessage['content'][number], { type: 'tool-result' }>;

/** What stands in for the result of a call that never got one. */
export const interruptedText =
  'Error: this call was interrupted before its result came; whether it took effect is unknown. Check before you call it again.';

/**
 * The messages in the form that providers take: each call is followed directly by its result, a call without one gets a notice that it was
 * interrupted, and results without a call are left out. Messages that are in order stay the same objects.
 */
export const repairHistory = (messages: readonly ModelMessage[]): readonly ModelMessage[] => {
  const repaired: ModelMessage[] = [];
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at] as ModelMessage;
    // Results are taken along with the calls that they belong to; those left are strays.
    if (message.role === 'tool') continue;
    repaired.push(message);
    if (message.role !== 'assistant' || typeof message.content === 'string') continue;
    const calls = message.content.filter((part) => part.type === 'tool-call' && part.providerExecuted !== true);
    if (calls.length === 0) continue;
    const following: ToolModelMessage[] = [];
    // Until the model speaks again: what a user said in between came while the calls ran.
    for (let next = at + 1; next < messages.length && messages[next]?.role !== 'assistant'; next += 1) {
      const candidate = messages[next] as ModelMessage;
      if (candidate.role === 'tool') following.push(candidate);
    }
    const results = new Map<string, ResultPart>();
    for (const part of following.flatMap(({ content }) => content))
      if (part.type === 'tool-result' && !results.has(part.toolCallId)) results.set(part.toolCallId, part);
    const [only] = following;
    const isWhole =
      following.length === 1 &&
      messages[at + 1] === only &&
      only?.content.length === calls.length &&
      calls.every((call) => call.type === 'tool-call' && results.has(call.toolCallId));
    repaired.push(
      isWhole && only
        ? only
        : {
            role: 'tool',
            content: calls.flatMap((call): ResultPart[] =>
              call.type === 'tool-call'
                ? [
                    results.get(call.toolCallId) ?? {
                      type: 'tool-result',
                      toolCallId: call.toolCallId,
                      toolName: call.toolName,
                      output: { type: 'error-text', value: interruptedText },
                    },
                  ]
                : [],
            ),
          },
    );
  }
  return repaired;
};
