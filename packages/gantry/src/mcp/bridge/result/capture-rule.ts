import { isUtf8 } from 'node:buffer';
import { isObject, parseJson } from '../../../kernel/json.ts';
import { fromBase64 } from '../../../kernel/base64.ts';
import { keyOf, textMember } from '../attachments/member.ts';
import { isBinaryMime, mimeOfName, unknownMime } from '../attachments/mime.ts';
import type { CaptureRule } from '../config/attachments-entry.ts';

/** What a rule finds in a text. */
export type RuleFinding =
  /** Bytes, and the value without them. */
  | {
      readonly kind: 'binary';
      readonly value: JsonMembers;
      readonly rest: JsonMembers;
      readonly bytes: Uint8Array;
      /** Undefined when nothing names the file. */
      readonly name: string | undefined;
      readonly mime: string;
    }
  /** Bytes that were decoded as text where they come from; the value without that text. */
  | {
      readonly kind: 'mangled';
      readonly value: JsonMembers;
      readonly rest: JsonMembers;
      readonly chars: number;
    };

type JsonMembers = Readonly<Record<string, unknown>>;

const mangledMinChars = 1_024;
const mangledMinMarks = 8;

/** The rule for a tool: the first that names it. */
export const ruleFor = (rules: readonly CaptureRule[] | undefined, tool: string): CaptureRule | undefined =>
  rules?.find(({ tools }) => tools.some((name) => name.toLowerCase() === tool.toLowerCase()));

/** Looks for bytes where the rule says they are; undefined when the text stays as it is, because it holds none or says text. */
export const applyRule = (rule: CaptureRule, text: string): RuleFinding | undefined => {
  const parsed = parseJson(text);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { value } = parsed;
  const contentKey = keyOf(value, rule.contentField);
  const content = contentKey === undefined ? undefined : value[contentKey];
  if (contentKey === undefined || typeof content !== 'string' || content === '') return undefined;
  const encodingKey = rule.encodingField === undefined ? undefined : keyOf(value, rule.encodingField);
  const encoding = encodingKey === undefined ? undefined : value[encodingKey];
  const saysOther = typeof encoding !== 'string' || encoding.toLowerCase() !== 'base64';
  if (encoding !== undefined && encoding !== null && saysOther) return undefined;
  const { [contentKey]: _content, ...rest } = value;
  const bytes = fromBase64(content);
  if (!bytes) return isMangled(content) ? { kind: 'mangled', value, rest, chars: content.length } : undefined;
  const name =
    (rule.nameField === undefined ? undefined : textMember(value, rule.nameField)) ??
    textMember(value, 'name') ??
    leafOf(textMember(value, 'path'));
  const told = rule.mimeField === undefined ? undefined : textMember(value, rule.mimeField);
  const mime = told ?? (name === undefined ? undefined : mimeOfName(name));
  const isBinary = (mime === undefined ? undefined : isBinaryMime(mime)) ?? !isText(bytes);
  return isBinary ? { kind: 'binary', value, rest, bytes, name, mime: mime ?? unknownMime } : undefined;
};

const leafOf = (path: string | undefined): string | undefined => path?.split(/[/\\]/).findLast((part) => part !== '');

const isMangled = (text: string): boolean => {
  if (text.length < mangledMinChars) return false;
  let marks = 0;
  for (let at = text.indexOf('\ufffd'); at !== -1; at = text.indexOf('\ufffd', at + 1))
    if (++marks >= mangledMinMarks) return true;
  return false;
};

const isText = (bytes: Uint8Array): boolean => !bytes.includes(0) && isUtf8(bytes);
