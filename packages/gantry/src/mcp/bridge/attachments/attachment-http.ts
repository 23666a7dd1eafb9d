/** A request that carries or fetches a file. */
export interface FileRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Read as it is sent. */
  readonly body?: AsyncIterable<Uint8Array> | undefined;
  readonly signal: AbortSignal;
}

/** An answer whose body has not been read. Read it or discard it: until then it holds its connection. */
export interface FileAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AsyncIterable<Buffer>;
  discard(): Promise<void>;
}

/** Sends a request, with no limit to the size of either body and without following redirects. */
export type FileHttp = (request: FileRequest) => Promise<FileAnswer>;
