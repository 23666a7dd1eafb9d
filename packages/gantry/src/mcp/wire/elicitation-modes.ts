import type { JsonObject } from '../../kernel/json.ts';

/** What a client can be asked in, of its capability `elicitation`. Before there were two modes, saying nothing meant forms. */
export const elicitationModes = (elicitation: JsonObject): JsonObject =>
  Object.keys(elicitation).length > 0 ? elicitation : { form: {} };

/** Whether a client with that capability can be asked a question of that mode; without one it is a form. */
export const knowsMode = (elicitation: object, mode: unknown = 'form'): boolean =>
  typeof mode === 'string' && Object.hasOwn(elicitationModes(elicitation as JsonObject), mode);
