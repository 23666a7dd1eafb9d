import type { Log } from '../kernel/log.ts';
import { flattenText } from '../text/flatten.ts';
import type { CallContext } from '../tool/context.ts';
import type { ToolRegistration } from '../tool/registration.ts';
import { providerAllowed } from './availability.ts';

/**
 * Why a model may not call a tool that is there: the two cases ask for different things of it.
 * A provider that lacks the tool is a fault of how the turn was set up; a tool that this turn has not is ordinary.
 */
export const whyHidden = (registration: ToolRegistration, context: CallContext, log: Log): string => {
  const { name: tool } = registration;
  const provider = context.model?.provider ?? 'unknown';
  if (!providerAllowed(registration, context) && !saysYes(registration, context)) {
    log.error({ tool, provider }, 'a model called a tool that is not supported with its provider');
    return `It is not supported with the model provider "${flattenText(provider, { maxChars: 60 })}".`;
  }
  log.warn({ tool, provider }, 'a model called a tool that it does not have in this turn');
  return 'It is not available in this turn: it is not configured for it, or has done its work already. Do not call it again in this turn.';
};

/** A tool's own word stands in place of its list of providers; one that throws has said nothing. */
const saysYes = ({ available }: ToolRegistration, context: CallContext): boolean => {
  try {
    return available?.(context) === true;
  } catch {
    return false;
  }
};
