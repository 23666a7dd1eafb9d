import * as z from 'zod';

/** A rule for bytes that a tool returns inside JSON text. */
export interface CaptureRule {
  /** Names of tools, in any case. */
  readonly tools: readonly string[];
  /** The key that holds base64. Keys are found in any case. */
  readonly contentField: string;
  /** Default `name`, else the last part of `path`. */
  readonly nameField?: string | undefined;
  /** Default the type that the name's extension says. */
  readonly mimeField?: string | undefined;
  /** A key that says `base64` where the contents are that. */
  readonly encodingField?: string | undefined;
}

/** The block `attachments` of an entry. */
export interface AttachmentsEntry {
  /** From this size on a file is uploaded, below it stands in the arguments as base64. Default 262,144. */
  readonly thresholdBytes?: number | undefined;
  /** Default `file`. */
  readonly uploadFieldName?: string | undefined;
  /** Path on the server's host of uploads, downloads and removals. Default `/attachments`. */
  readonly endpointPath?: string | undefined;
  /** Arguments that hold lists of files, each as `name[*]`. */
  readonly outbound?: { readonly paramPaths?: readonly string[] | undefined } | undefined;
  /** Tools that take `"mode": "save"`, in any case. */
  readonly inbound?: { readonly tools?: readonly string[] | undefined } | undefined;
  readonly capture?:
    | { readonly enabled?: boolean | undefined; readonly rules?: readonly CaptureRule[] | undefined }
    | undefined;
}

const names = z.array(z.string().min(1));
const field = z.string().min(1);

/** Checks the block. */
export const attachmentsEntrySchema: z.ZodType<AttachmentsEntry> = z
  .looseObject({
    thresholdBytes: z.number().int().nonnegative().describe('From this size on a file is uploaded. Default 262144.'),
    uploadFieldName: field.describe('Form field of an upload. Default file.'),
    endpointPath: field.describe('Path of uploads and downloads on the host of the server. Default /attachments.'),
    outbound: z
      .looseObject({ paramPaths: names.describe('Arguments that hold lists of files, each as "name[*]".') })
      .partial(),
    inbound: z.looseObject({ tools: names.describe('Tools that take "mode": "save".') }).partial(),
    capture: z
      .looseObject({
        enabled: z.boolean().describe('false: bytes in results stay where they are.'),
        rules: z
          .array(
            z.looseObject({
              tools: names,
              contentField: field.describe('The key that holds base64.'),
              nameField: field.optional(),
              mimeField: field.optional(),
              encodingField: field.optional(),
            }),
          )
          .describe('Where tools return bytes inside JSON text.'),
      })
      .partial(),
  })
  .partial();
