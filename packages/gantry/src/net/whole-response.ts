const wholeBody: unique symbol = Symbol('body of a whole response');

type Marked = Response & { readonly [wholeBody]?: string | Uint8Array };

/**
 * A response with a body that is known when it is made, so that a text can be looked at without being read, and it is known to be no stream.
 * To ask that of its headers would cost more than all else of a small answer: it makes the listener build them twice.
 */
export const wholeResponse = (body: string | Uint8Array<ArrayBuffer>, init: ResponseInit): Response =>
  Object.assign(new Response(body, init), { [wholeBody]: body });

/** Whether a response was made by {@link wholeResponse}. */
export const isWhole = (response: Marked): boolean => response[wholeBody] !== undefined;

/** The text of a response that was made by {@link wholeResponse}; undefined for bytes, and for any other response. */
export const wholeTextOf = ({ [wholeBody]: body }: Marked): string | undefined =>
  typeof body === 'string' ? body : undefined;
