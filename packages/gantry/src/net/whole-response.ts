const wholeText: unique symbol = Symbol('text of a whole response');

/**
 * A response with a text that is known when it is made, so that it can be looked at without being read, and is known to be no stream.
 * To ask that of its headers would cost more than all else of a small answer: it makes the listener build them twice.
 */
export const wholeResponse = (text: string, init: ResponseInit): Response =>
  Object.assign(new Response(text, init), { [wholeText]: text });

/** The text of a response that was made by {@link wholeResponse}; undefined for any other. */
export const wholeTextOf = (response: Response & { readonly [wholeText]?: string }): string | undefined =>
  response[wholeText];
