/** Lets a call of a client begin, or says why it may not now and when to try again. Dispose what is let in when the call has ended. */
export type AdmitCall = (
  client: string | undefined,
) => Disposable | { readonly refusal: string; readonly retryAfterS: number };
