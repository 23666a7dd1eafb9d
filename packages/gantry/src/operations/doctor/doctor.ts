import * as z from 'zod';
import type { NoInput, Operation } from '../operation.ts';
import { defineOperation } from '../operation.ts';
import type { DoctorReport } from './doctor-report.ts';

/** `doctor` */
export const doctor: Operation<NoInput, DoctorReport> = defineOperation({
  name: 'doctor',
  summary: 'Checks the runtime, folders, port, configuration and every server, and says the fix for each problem.',
  method: 'GET',
  path: '/doctor',
  input: z.strictObject({}),
  output: z.strictObject({
    ok: z.boolean().describe('False when something is broken.'),
    checks: z.array(
      z.strictObject({
        name: z.string(),
        state: z.enum(['ok', 'warning', 'broken']),
        message: z.string(),
        fix: z.string().optional(),
      }),
    ),
  }),
  handler: (_input, deps) => deps.doctor(),
});
