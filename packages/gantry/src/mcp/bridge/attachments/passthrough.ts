import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { CallContext } from '../../../tool/context.ts';
import { callerRules } from '../../../tool/context.ts';
import { reportedFailure } from '../../../tool/messages.ts';
import type { Outcome, ToolReport } from '../../../tool/outcome.ts';
import type { FileVolume } from '../../../volume/volume.ts';
import type { TokenKeeper } from '../auth/token-keeper.ts';
import { expandHeaders, isStdioEntry } from '../config/server-entry.ts';
import { maskSecretsOf, withSecretsMasked } from '../config/entry-secrets.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import type { FileHttp } from './attachment-http.ts';
import type { AttachmentServer } from './attachment-server.ts';
import { createAttachmentServer } from './attachment-server.ts';
import { createAttachmentStorage } from './attachment-storage.ts';
import type { AttachmentManifest } from './manifest.ts';
import { toManifest } from './manifest.ts';
import { handoverOf, receiveAttachment } from './receive-attachment.ts';
import { sendAttachments } from './send-attachments.ts';

/** Takes the place of a tool's own result. */
export type ReceiveFile = (report: ToolReport) => Promise<Outcome>;

/** A call as it is sent. */
export interface PassedCall {
  readonly args: JsonObject;
  /** Set when the caller wants the tool's file saved. */
  readonly receive: ReceiveFile | undefined;
}

/** A call to a server whose entry may tell how its files go in and out. */
export interface PassCall {
  readonly server: string;
  readonly entry: ServerEntry;
  /** Of the server's sign-in. */
  readonly tokens: TokenKeeper | undefined;
  readonly tool: string;
  /** As the caller wrote them. */
  readonly args: JsonObject;
  /** As they were sent before, when the call goes on after a question: files are not sent again. */
  readonly alreadySent?: JsonObject | undefined;
  readonly context: Pick<CallContext, 'caller' | 'sharesFolder'>;
  readonly signal: AbortSignal;
}

/**
 * Lets callers use paths where servers want files. Without a block `attachments`, and for callers that the shared folder means nothing
 * to, a call stays as it is.
 * @throws {GantryError} `invalid_arguments` when a file cannot be sent; the tool must not be called then.
 */
export type PassAttachments = (call: PassCall) => Promise<PassedCall>;

/** Makes the passthrough of a bridge. */
export const createPassthrough = (options: {
  readonly volume: FileVolume;
  readonly http: (server: { readonly isGuarded: boolean }) => FileHttp;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}): PassAttachments => {
  const { clock, log } = options;
  const storage = createAttachmentStorage(options.volume);

  const serverOf = (call: PassCall, manifest: AttachmentManifest): AttachmentServer | undefined => {
    const { entry } = call;
    if (isStdioEntry(entry) || entry.url === undefined) return undefined;
    const headers = new Headers(expandHeaders(entry, options.env));
    if (entry.auth) headers.delete('authorization');
    return createAttachmentServer({
      server: call.server,
      url: new URL(entry.url),
      headers: Object.fromEntries(headers),
      // A token that the operator wrote down goes before one from a sign-in.
      tokens: headers.has('authorization') ? undefined : call.tokens,
      manifest,
      http: options.http({ isGuarded: entry.origin === 'agent' }),
      clock,
      log,
    });
  };

  return async (call) => {
    const { server, entry, tool, args, signal } = call;
    if (!entry.attachments || !speaksPaths(call.context)) return { args: call.alreadySent ?? args, receive: undefined };
    const manifest = toManifest(entry.attachments);
    const files = serverOf(call, manifest);
    const handover = handoverOf(tool, args, manifest, files !== undefined);
    const sent = call.alreadySent ?? (await sendAttachments(args, { tool, manifest, storage, server: files, signal }));
    if (!handover) return { args: sent, receive: undefined };
    return {
      args: { ...sent, mode: handover },
      receive: async (report) => {
        try {
          const received = await receiveAttachment(report, { handover, storage, server: files, signal });
          if (received) return { status: 'done', ...received };
          log.warn({ server, tool }, 'a tool was asked for a file and its result tells of none; it stays as it is');
          return { status: 'done', ...report };
        } catch (error) {
          if (signal.aborted) throw error;
          const mask = maskSecretsOf(entry, options.env, () => call.tokens?.secrets() ?? []);
          withSecretsMasked(log, mask).warn({ server, tool, err: error }, 'a file of a tool could not be saved');
          const text = `Tool "${flattenText(tool)}" ran, and its file could not be saved: ${flattenText(mask(reasonOf(error)), { maxChars: 500 })}`;
          return reportedFailure({ parts: [{ type: 'text', text }] });
        }
      },
    };
  };
};

const speaksPaths = ({ caller, sharesFolder }: PassCall['context']): boolean => {
  const rule = callerRules[caller].pathsForAttachments;
  return rule === 'if-shared' ? sharesFolder === true : rule;
};

const reasonOf = (error: unknown): string =>
  GantryError.is(error) ? error.message : `the connection or the shared folder failed (${messageOf(error)}).`;
