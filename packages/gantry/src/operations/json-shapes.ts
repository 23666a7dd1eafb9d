import * as z from 'zod';
import type { Json, JsonObject } from '../kernel/json.ts';

/** Any JSON value; as a schema it allows everything, since what it describes came from JSON. */
export const jsonValue: z.ZodType<Json> = z.unknown() as z.ZodType<Json>;

/** Any JSON object. */
export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), z.unknown()) as z.ZodType<JsonObject>;
