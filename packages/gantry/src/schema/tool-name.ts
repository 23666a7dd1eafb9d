import { createHash } from 'node:crypto';
import type { Provider } from './adapt/provider.ts';

const maxNameChars = 64;
const hashDigits = 16;
// Of a name that is shortened: what stands before the hash.
const keptChars = maxNameChars - hashDigits - 1;

/** The name of a server's tool as a tool of its own: `{server}__{tool}`, letters, digits, `-` and `_`, at most 64 characters. */
export const typedToolName = (server: string, tool: string): string =>
  shortName(`${toNamePart(server)}__${toNamePart(tool)}`, ['tool', server, tool]);

/** The name of a server's prompt as a tool: `{server}__{prompt}-prompt`, else as {@link typedToolName}. */
export const typedPromptName = (server: string, prompt: string): string =>
  shortName(`${toNamePart(server)}__${toNamePart(prompt)}-prompt`, ['prompt', server, prompt]);

/** What the typed names of all tools and prompts of a server begin with, those that are shortened too. */
export const typedNameStart = (server: string): string => `${toNamePart(server)}__`.slice(0, keptChars);

/**
 * Another name for a tool or prompt whose typed name belongs to somebody else: the same text and a hash of what it stands for,
 * so the same one gets the same name whatever else is there.
 */
export const distinctTypedName = (typedName: string, kind: 'tool' | 'prompt', server: string, name: string): string =>
  shorten(typedName, [kind, server, name]);

/**
 * A tool's name in the form that a model provider takes: at most 64 characters of letters, digits, `-` and `_`; for Gemini not starting
 * with a digit or `-`. Different names stay different.
 */
export const providerToolName = (name: string, provider: Provider): string => {
  const part = toNamePart(name);
  const shaped = part === name ? part : `${part}-${hashOf([name])}`;
  // One more underscore for names that look as if they had got one, so that "3d" and "_3d" do not meet.
  const started = provider === 'gemini' && /^_*[0-9-]/.test(shaped) ? `_${shaped}` : shaped;
  return started.length > maxNameChars || started === '' ? shorten(started, [name]) : started;
};

const toNamePart = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, '-');

const looksShortened = new RegExp(`^.{${keptChars}}-[0-9a-f]{${hashDigits}}$`);

/** Names that look like a short form are shortened too, so that none can be forged to equal another's. */
const shortName = (full: string, identity: readonly string[]): string =>
  full.length > maxNameChars || looksShortened.test(full) ? shorten(full, identity) : full;

const shorten = (full: string, identity: readonly string[]): string =>
  `${full.slice(0, keptChars)}-${hashOf(identity)}`;

const hashOf = (identity: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, hashDigits);
