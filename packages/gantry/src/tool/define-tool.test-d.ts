import { expectTypeOf } from 'vitest';
import * as z from 'zod';
import { defineTool } from './define-tool.ts';

defineTool({
  name: 'search',
  description: 'Searches.',
  input: z.strictObject({ query: z.string(), limit: z.number().default(5), tag: z.string().optional() }),
  execute: (args) => {
    expectTypeOf(args).toEqualTypeOf<{ query: string; limit: number; tag?: string | undefined }>();
    return args.query;
  },
});
