import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { fillText, fillValue, referencesIn } from './wisp-templates.ts';

const valueOf = ({ stepId, field }: { stepId: string; field: string }): string | undefined =>
  stepId === 'a' && field === 'result' ? 'A' : stepId === 'b' ? '{{steps.a.result}}' : undefined;

it('puts results in at every depth, also several in one text', () => {
  expect(
    fillValue({ x: ['{{steps.a.result}} and {{ steps.a.result }}', { y: '{{steps.a.result}}' }], n: 1 }, valueOf),
  ).toEqual({ x: ['A and A', { y: 'A' }], n: 1 });
});

it('never reads what it puts in, and leaves what leads nowhere', () => {
  expect(fillText('{{steps.b.result}}|{{steps.c.result}}', valueOf)).toBe('{{steps.a.result}}|{{steps.c.result}}');
});

it('keeps any result literal, and the value valid JSON', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (result) => {
      const filled = fillValue({ text: 'x{{steps.s.result}}y' }, () => `${result}"\n{{steps.x.result}}$&`);
      expect(JSON.parse(JSON.stringify(filled))).toEqual({ text: `x${result}"\n{{steps.x.result}}$&y` });
    }),
  );
});

it('finds references wherever they are', () => {
  expect(referencesIn(['{{steps.a.result}}', { b: { c: '{{steps.x-1.output_to}}' } }, 7, null])).toEqual([
    { text: '{{steps.a.result}}', stepId: 'a', field: 'result' },
    { text: '{{steps.x-1.output_to}}', stepId: 'x-1', field: 'output_to' },
  ]);
});
