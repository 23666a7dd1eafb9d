const type = 'text/event-stream';

/** Whether an Accept header asks for a stream of events: names the type in any case, and not with a quality of 0 (RFC 9110, 12.4.2). */
export const acceptsEvents = (accept: string | undefined): boolean =>
  (accept ?? '').split(',').some((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return name === type && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
