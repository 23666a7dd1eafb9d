import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { Attachment, MediaPart, Part, ResourcePart, ToolReport } from '../../../tool/outcome.ts';
import type { Volume } from '../../../volume/volume.ts';
import { fromBase64 } from '../../../kernel/base64.ts';
import { extensionOf, unknownMime } from '../attachments/mime.ts';
import type { CaptureRule } from '../config/attachments-entry.ts';
import type { RuleFinding } from './capture-rule.ts';
import { applyRule, ruleFor } from './capture-rule.ts';

/** A result in which files stand in for bytes. */
export interface Captured {
  readonly report: ToolReport;
  readonly attachments: readonly Attachment[];
}

/** What bytes are captured with. */
export interface CaptureOptions {
  readonly volume: Pick<Volume, 'saveNew'>;
  readonly tool: string;
  readonly rules: readonly CaptureRule[] | undefined;
  readonly log: Log;
}

const savedNote = 'The binary was saved to the shared volume; give its path to a tool that takes a file path.';

/**
 * Writes the bytes of a result to the shared folder and puts a JSON description in the place of each: of every image, sound and blob, and of
 * base64 inside JSON text where a rule says so. All else keeps its place. What cannot be saved stays as it is; a call never fails for that.
 * Undefined when there is nothing to capture.
 */
export const captureBinary = async (report: ToolReport, options: CaptureOptions): Promise<Captured | undefined> => {
  const rule = ruleFor(options.rules, options.tool);
  const attachments: Attachment[] = [];
  const parts: Part[] = [];
  let { structured } = report;
  let isRuleDone = rule === undefined;
  let isChanged = false;
  // One after another, so that the names of equal files follow the order of the parts.
  for (const part of report.parts) {
    let replaced: Part | undefined;
    try {
      if (isBinary(part)) replaced = await captureBlock(part, attachments, options);
      else if (!isRuleDone && rule && part.type === 'text') {
        const found = applyRule(rule, part.text);
        if (found) {
          isRuleDone = true;
          const members = await captureFinding(found, attachments, options);
          replaced = { ...part, text: JSON.stringify(members) };
          // A copy for programs of the text that was just relieved of its bytes.
          if (isDeepStrictEqual(structured, found.value)) structured = members as JsonObject;
        }
      }
    } catch (error) {
      const { tool, log } = options;
      log.warn({ tool, reason: messageOf(error) }, 'bytes of a result could not be saved; they stay in it');
    }
    isChanged ||= replaced !== undefined;
    parts.push(replaced ?? part);
  }
  return isChanged ? { report: { ...report, parts, structured }, attachments } : undefined;
};

/** True for a part that holds bytes. */
const isBinary = (part: Part): part is MediaPart | ResourcePart =>
  part.type === 'image' || part.type === 'audio' || (part.type === 'resource' && part.resource.blob !== undefined);

const captureBlock = async (
  part: MediaPart | ResourcePart,
  attachments: Attachment[],
  { volume, tool }: CaptureOptions,
): Promise<Part | undefined> => {
  const { data, mime, name, uri } = contentsOf(part, tool);
  const bytes = fromBase64(data);
  if (!bytes) return undefined;
  const saved = await save(volume, name, bytes, mime);
  attachments.push(saved);
  return { type: 'text', text: JSON.stringify({ ...saved, uri, note: savedNote }) };
};

const captureFinding = async (
  found: RuleFinding,
  attachments: Attachment[],
  { volume, tool }: CaptureOptions,
): Promise<Readonly<Record<string, unknown>>> => {
  if (found.kind === 'mangled')
    return {
      ...found.rest,
      note: `The contents were left out (${found.chars} characters): the bytes were decoded as text where they come from and are unrecoverable. Calling again gives the same; fetch the file by another route.`,
    };
  const { rest, bytes, mime } = found;
  const saved = await save(volume, found.name ?? generatedName(tool, mime), bytes, mime);
  attachments.push(saved);
  return { ...rest, ...saved, note: savedNote };
};

const save = async (
  volume: Pick<Volume, 'saveNew'>,
  name: string,
  bytes: Uint8Array,
  mime: string,
): Promise<Attachment> => {
  const { path, name: savedName, size } = await volume.saveNew('attachments', name, bytes);
  return { path, name: savedName, size, mime };
};

/** A name for bytes that came without one. */
const generatedName = (tool: string, mime: string): string => {
  const stem = tool.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return `${stem || 'capture'}-${newId().slice(0, 8)}${extensionOf(mime)}`;
};

const contentsOf = (
  part: MediaPart | ResourcePart,
  tool: string,
): { data: string; mime: string; name: string; uri: string | undefined } => {
  if (part.type !== 'resource') {
    const mime = part.mimeType;
    return { data: part.data, mime, name: generatedName(tool, mime), uri: undefined };
  }
  const { uri, mimeType = unknownMime, blob = '' } = part.resource;
  const name = resourceFileName(uri, mimeType, tool);
  return { data: blob, mime: mimeType, name, uri: flattenText(uri, { maxChars: 2_000 }) };
};

/** A name for the file that holds a resource: the last segment of its address, with the extension of its type if it has none. */
export const resourceFileName = (uri: string, mimeType: string, owner: string): string => {
  const name = lastSegment(uri) ?? `${owner}-resource`;
  return /\.[A-Za-z0-9]{1,10}$/.test(name) ? name : `${name}${extensionOf(mimeType)}`;
};

const lastSegment = (uri: string): string | undefined => {
  const path = uri.replace(/[?#].*$/s, '').replace(/\/+$/, '');
  const segment = path.slice(path.lastIndexOf('/') + 1);
  if (segment === '' || segment.endsWith(':')) return undefined;
  return /%(?![0-9A-Fa-f]{2})/.test(segment) ? segment : Buffer.from(unescapePercent(segment), 'latin1').toString();
};

const unescapePercent = (segment: string): string =>
  Buffer.from(segment)
    .toString('latin1')
    .replaceAll(/%([0-9A-Fa-f]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
