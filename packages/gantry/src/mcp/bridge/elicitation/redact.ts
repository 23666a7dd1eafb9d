import type { Json, JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { isCredentialName } from '../../../text/credential-name.ts';
import { redactText, redactedMark } from '../../../text/scrub-strictly.ts';
import { isSensitiveName } from './sensitive-field.ts';

/**
 * The arguments of a call as they may be shown to another model or kept: the values of credential-named keys are masked, and what looks
 * like a secret in others too. Deeper than 64 levels everything is masked.
 */
export const redactArguments = (args: JsonObject): JsonObject => redactMembers(args, maxLevels);

const maxLevels = 64;

const redact = (value: Json, levelsLeft: number): Json => {
  if (typeof value === 'string') return redactText(value);
  // A card number may come as a number.
  if (typeof value === 'number')
    return Number.isInteger(value) && redactText(String(value)) === redactedMark ? redactedMark : value;
  if (typeof value !== 'object' || value === null) return value;
  if (levelsLeft === 0) return redactedMark;
  return isObject(value) ? redactMembers(value, levelsLeft - 1) : redactItems(value, levelsLeft - 1);
};

const redactItems = (items: Json, levelsLeft: number): Json =>
  (items as readonly Json[]).map((item) => redact(item, levelsLeft));

const redactMembers = (members: JsonObject, levelsLeft: number): JsonObject =>
  Object.fromEntries(
    Object.entries(members)
      .filter((entry): entry is [string, Json] => entry[1] !== undefined)
      .map(([key, value]) => [key, isSecret(key, value) ? redactedMark : redact(value, levelsLeft)]),
  );

// A flag or a null tells nothing.
const isSecret = (key: string, value: Json): boolean =>
  value !== null && typeof value !== 'boolean' && value !== '' && (isCredentialName(key) || isSensitiveName(key));
