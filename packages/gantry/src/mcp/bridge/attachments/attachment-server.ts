import { GantryError, messageOf } from '../../../kernel/errors.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import { startDeadline } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Log } from '../../../kernel/log.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { TokenKeeper } from '../auth/token-keeper.ts';
import { readLimited } from '../connection/response-limit.ts';
import type { FileAnswer, FileHttp, FileRequest } from './attachment-http.ts';
import type { OpenAttachment } from './attachment-storage.ts';
import { fileNameOf } from './content-disposition.ts';
import type { AttachmentManifest } from './manifest.ts';
import { attachmentUrl } from './manifest.ts';
import { textMember } from './member.ts';
import { mimeOfName, unknownMime } from './mime.ts';

/** A file that is being downloaded. */
export interface Download {
  /** As the server names it in the answer. */
  readonly name: string | undefined;
  readonly mime: string | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The files that a server keeps for its tools. */
export interface AttachmentServer {
  /** Uploads a file and gives its id. @throws {GantryError} `execution_failed` */
  upload(file: OpenAttachment, signal: AbortSignal): Promise<string>;
  /** Begins a download; its chunks must be read. @throws {GantryError} `execution_failed` */
  download(id: string, signal: AbortSignal): Promise<Download>;
  /** Removes a file. Nothing depends on it: what goes wrong is logged. */
  remove(id: string): Promise<void>;
}

/** What the files of a server are reached with: the same as its calls. */
export interface AttachmentServerOptions {
  readonly server: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the server's sign-in; undefined when the headers say who calls. */
  readonly tokens: TokenKeeper | undefined;
  readonly manifest: AttachmentManifest;
  readonly http: FileHttp;
  readonly clock: Clock;
  readonly log: Log;
}

const maxAnswerBytes = 65_536;
const removalTimeoutMs = 10_000;

/** The files of one server. Holds nothing, so it need not be closed. */
export const createAttachmentServer = (options: AttachmentServerOptions): AttachmentServer => {
  const { server, url, headers, tokens, manifest, http, clock, log } = options;

  const failed = (problem: string): GantryError =>
    new GantryError('execution_failed', `Server "${server}" ${problem}.`, { details: { server } });

  const send = async (
    request: Omit<FileRequest, 'body' | 'headers'>,
    { more = {}, body }: { more?: Readonly<Record<string, string>>; body?: () => AsyncIterable<Uint8Array> } = {},
  ): Promise<FileAnswer> => {
    const sendWith = (token: string | undefined): Promise<FileAnswer> =>
      http({
        ...request,
        headers: { ...headers, ...more, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
        body: body?.(),
      });
    const token = await tokens?.token();
    const answer = await sendWith(token);
    if (answer.status !== 401 || !tokens || !(await tokens.renew(token))) return answer;
    await answer.discard();
    return await sendWith(await tokens.token());
  };

  return {
    upload: async (file, signal) => {
      const form = toForm(file, manifest.uploadFieldName);
      const answer = await send(
        { method: 'POST', url: attachmentUrl(url, manifest), signal },
        { more: form.headers, body: form.chunks },
      );
      if (answer.status !== 200 && answer.status !== 201) {
        await answer.discard();
        throw failed(`answered the upload with HTTP ${answer.status}`);
      }
      const said = parseJson(await readLimited(answer.body, { server, maxBytes: maxAnswerBytes }));
      const id = said.ok && isObject(said.value) ? textMember(said.value, 'attachmentId', 'id') : undefined;
      if (id === undefined) throw failed('gave no "attachmentId" for the upload');
      return id;
    },
    download: async (id, signal) => {
      const answer = await send({ method: 'GET', url: attachmentUrl(url, manifest, id), signal });
      if (answer.status !== 200) {
        await answer.discard();
        throw failed(`answered the download of "${flattenText(id)}" with HTTP ${answer.status}`);
      }
      return {
        name: fileNameOf(answer.headers.get('content-disposition')),
        mime: answer.headers.get('content-type') ?? undefined,
        chunks: answer.body,
      };
    },
    remove: async (id) => {
      using deadline = startDeadline(clock, removalTimeoutMs);
      try {
        const { signal } = deadline;
        const answer = await send({ method: 'DELETE', url: attachmentUrl(url, manifest, id), signal });
        await answer.discard();
        if (![200, 204, 404].includes(answer.status))
          log.warn({ server, status: answer.status }, 'a server did not remove a file that was downloaded');
      } catch (error) {
        log.warn({ server, reason: messageOf(error) }, 'a server did not remove a file that was downloaded');
      }
    },
  };
};

/** A form with one file (RFC 7578), whose length is known beforehand. */
const toForm = (
  file: OpenAttachment,
  field: string,
): { readonly headers: Readonly<Record<string, string>>; readonly chunks: () => AsyncIterable<Uint8Array> } => {
  const boundary = `gantry-${newId()}`;
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(field)}"; filename="${quoted(file.name)}"\r\n` +
      `Content-Type: ${mimeOfName(file.name) ?? unknownMime}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + file.size + tail.length),
    },
    chunks: async function* () {
      yield head;
      yield* file.chunks();
      yield tail;
    },
  };
};

// The way of browsers (WHATWG "multipart/form-data encoding algorithm").
const quoted = (name: string): string => name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
