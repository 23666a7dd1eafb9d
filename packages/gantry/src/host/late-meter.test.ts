import { expect, it } from 'vitest';
import { createLateMeter } from './late-meter.ts';
import { startPrometheus } from './prometheus.ts';

it('records nothing before a real meter is bound and everything after, whenever the instrument was made', async () => {
  const late = createLateMeter();
  const early = late.createCounter('gantry.early');
  const sizes = late.createHistogram('gantry.size', { unit: 'ms' });
  const active = late.createUpDownCounter('gantry.active');
  early.add(100);
  await using prometheus = await startPrometheus('1');
  late.bind(prometheus.meter);
  early.add(1, { tool_name: 'a' });
  late.createCounter('gantry.later').add(2);
  sizes.record(7);
  active.add(3);
  active.add(-1);
  const text = await prometheus.read();
  expect(text).toMatch(/^gantry_early_total\{tool_name="a".*\} 1$/m);
  expect(text).toMatch(/^gantry_later_total.* 2$/m);
  expect(text).toMatch(/^gantry_size_count.* 1$/m);
  expect(text).toMatch(/^gantry_active.* 2$/m);
});
