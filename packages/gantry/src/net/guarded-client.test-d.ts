import { expectTypeOf } from 'vitest';
import type { GuardedFetch } from './guarded-client.ts';

// It fits wherever a library takes a fetch function.
expectTypeOf<GuardedFetch>().toExtend<(url: string | URL, init?: RequestInit) => Promise<Response>>();
