import * as z from 'zod';
import type { NoInput, Operation } from './operation.ts';
import { defineOperation } from './operation.ts';

/** `config.print` */
export const configPrint: Operation<NoInput, Readonly<Record<string, unknown>>> = defineOperation({
  name: 'config.print',
  summary: 'Gives the configuration in effect, with secrets masked.',
  method: 'GET',
  path: '/config',
  input: z.strictObject({}),
  output: z.record(z.string(), z.unknown()),
  handler: (_input, deps) => deps.effectiveConfig(),
});
