import { GantryError } from '../../kernel/errors.ts';

/** The error of a request to a server that was silent for too long. */
export const noAnswerWithin = (server: string, timeoutMs: number): GantryError =>
  new GantryError(
    'timeout',
    `Server "${server}" gave no answer within ${Math.round(timeoutMs)} ms; whether the request was carried out is unknown.`,
    { details: { name: server, timeoutMs }, retry: 'never' },
  );
