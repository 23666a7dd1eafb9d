import * as z from 'zod';
import type { Json, JsonObject } from '../kernel/json.ts';
import { isObject } from '../kernel/json.ts';

/** Any JSON value; as a schema it allows everything, since what it describes came from JSON. */
export const jsonValue: z.ZodType<Json> = z.unknown() as z.ZodType<Json>;

/** Any JSON object, as it came: a record of zod's would leave out the key `__proto__` without a word, and copy the rest. */
export const jsonObject: z.ZodType<JsonObject> = z
  .unknown()
  .refine(isObject, { abort: true, message: 'must be a JSON object' })
  .meta({ type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} }) as z.ZodType<JsonObject>;
