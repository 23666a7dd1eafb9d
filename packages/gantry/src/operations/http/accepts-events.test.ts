import { expect, it } from 'vitest';
import { acceptsEvents } from './accepts-events.ts';

it.each([
  ['text/event-stream', true],
  ['application/json, text/event-stream', true],
  ['TEXT/Event-Stream ; Q=0.1', true],
  ['text/event-stream;charset=utf-8;q=1.0', true],
  ['text/event-stream;q=0', false],
  ['text/event-stream; q=0.000, application/json', false],
  ['text/event-streams', false],
  ['application/json', false],
  ['*/*', false],
  ['', false],
  [undefined, false],
])('an Accept header of %j asks for events: %s', (header, isAsked) => {
  expect(acceptsEvents(header)).toBe(isAsked);
});
