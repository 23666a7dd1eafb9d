/** Fakes and builders for the tests of tools and plugins. */
export { fakeClock } from './testing/fake-clock.ts';
export type { FakeClock } from './testing/fake-clock.ts';
export { makeInvoker, registryOf } from './testing/make-invoker.ts';
