import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../kernel/json.ts';
import { jsonProblem } from '../kernel/json-problem.ts';
import { parseJson } from '../kernel/json.ts';
import type { Outcome, Part, ToolReport } from './outcome.ts';

const emptyText = '(the tool returned nothing)';

/**
 * The text form of an outcome: what a model, the wire's `content` and the terminal show. Never empty, because providers
 * refuse empty tool messages. A failure without a report of its own is its message.
 */
export const outcomeText = (outcome: Outcome): string => {
  switch (outcome.status) {
    case 'done':
      return reportText(outcome);
    case 'parked':
      return partsText(outcome.parts) || emptyText;
    case 'failed': {
      const { failure } = outcome;
      return failure.reported ? reportText(failure.reported) : failure.message;
    }
  }
};

/** The text of parts and structured value together; the structured value is shown unless a text part is its echo. */
export const reportText = (report: ToolReport): string => {
  const text = partsText(report.parts);
  if (report.structured === undefined || echoes(report.parts, report.structured)) return text.trim() ? text : emptyText;
  const structured = structuredText(report.structured);
  return text.trim() ? `${text}\n${structured}` : structured;
};

/**
 * What cannot be written is named: a text form has to come out of anything that an executor gives back. It is looked for first, because
 * indenting what nests very deep takes seconds and gigabytes before it fails.
 */
const structuredText = (structured: Json): string => {
  const problem = jsonProblem(structured);
  if (problem !== undefined) return `(the structured result holds ${problem})`;
  try {
    return JSON.stringify(structured, null, 2) ?? '';
  } catch {
    return '(the structured result holds too much to be written)';
  }
};

/** The texts of parts, one after the other on lines of their own. */
export const partsText = (parts: readonly Part[]): string => {
  const [only] = parts;
  if (parts.length === 1 && only?.type === 'text') return only.text;
  return parts.map(partText).join('\n');
};

const partText = (part: Part): string => {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return `[${part.type} ${part.mimeType}, ${Math.floor((part.data.length * 3) / 4)} bytes]`;
    case 'resource_link':
      return `[resource link] ${part.name}: ${part.uri}${part.mimeType ? ` (${part.mimeType})` : ''}`;
    case 'resource': {
      const { uri, mimeType, text, blob } = part.resource;
      const head = `[resource ${uri}${mimeType ? ` (${mimeType})` : ''}]`;
      if (text !== undefined) return `${head}\n${text}`;
      return blob === undefined ? head : `${head} ${Math.floor((blob.length * 3) / 4)} bytes`;
    }
    default:
      return `[${(part as { type: string }).type} content block]`;
  }
};

// Servers add a text copy of the structured value for old clients; it may differ in spacing and key order.
const echoes = (parts: readonly Part[], structured: Json): boolean =>
  parts.some((part) => {
    if (part.type !== 'text') return false;
    const parsed = parseJson(part.text);
    return parsed.ok && isDeepStrictEqual(parsed.value, structured);
  });
