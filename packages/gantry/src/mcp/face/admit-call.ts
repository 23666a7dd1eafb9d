/** A call that is let in, or why it is not and when to try again. Dispose what is let in when the call has ended. */
export type Admission = Disposable | { readonly refusal: string; readonly retryAfterS: number };

/** Lets a call of a client begin; a promise only where other processes have to be asked. */
export type AdmitCall = (client: string | undefined) => Admission | Promise<Admission>;
