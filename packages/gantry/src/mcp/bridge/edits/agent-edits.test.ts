import { expect, it } from 'vitest';
import type { ServerEntry } from '../config/server-entry.ts';
import { registration } from './agent-edits.ts';

const fileWith = (count: number, origin: ServerEntry['origin']) => ({
  entries: new Map(
    Array.from({ length: count }, (_, n): [string, ServerEntry] => [
      `s${n}`,
      { id: `id${n}`, origin, type: 'sse', url: `https://s${n}.example/mcp` },
    ]),
  ),
  refused: new Map<string, string>(),
});
const wanted = { name: 'new', type: 'sse', url: 'https://new.example/mcp' } as const;

it('takes fifty servers that were not added by the operator, whoever adds them, and says what to do then', () => {
  expect(registration(fileWith(49, 'agent'), wanted)).toHaveLength(1);
  expect(registration(fileWith(60, undefined), wanted)).toHaveLength(1);
  expect(() => registration(fileWith(50, 'agent'), wanted)).toThrow(/50 servers .* Unregister one .* operator/);
});
