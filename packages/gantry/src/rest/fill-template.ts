import type { Json, JsonObject } from '../kernel/json.ts';
import { isObject } from '../kernel/json.ts';

/** What placeholders stand for. */
export interface Fillings {
  readonly args: JsonObject;
  /**
   * Gives the value of an environment variable.
   * @throws {GantryError} when it is not set.
   */
  readonly envOf: (name: string) => string;
}

const placeholder = /\$\{([A-Za-z_]\w*)\}|\{([A-Za-z_][\w-]*)\}/g;
const alone = /^\{([A-Za-z_][\w-]*)\}$/;

/** The names that a template uses: arguments, and environment variables. */
export interface TemplateNames {
  readonly args: readonly string[];
  readonly env: readonly string[];
}

/** Collects the names of all texts of a template. */
export const namesIn = (template: Json | undefined): TemplateNames => {
  const [args, env]: [string[], string[]] = [[], []];
  const visit = (value: Json | undefined): void => {
    if (typeof value === 'string') {
      for (const [, variable, arg] of value.matchAll(placeholder))
        if (variable === undefined) args.push(arg as string);
        else env.push(variable);
    } else if (Array.isArray(value)) for (const item of value as readonly Json[]) visit(item);
    else if (isObject(value)) for (const member of Object.values(value)) visit(member);
  };
  visit(template);
  return { args, env };
};

/**
 * Fills a text in one pass, so that what an argument says is never read as a placeholder. Undefined when an argument is not given.
 *
 * @param encode how values are written, default as they are.
 */
export const fillText = (
  template: string,
  { args, envOf }: Fillings,
  encode: (value: string) => string = (value) => value,
): string | undefined => {
  let complete = true;
  const filled = template.replaceAll(placeholder, (_found, variable: string | undefined, arg: string) => {
    if (variable !== undefined) return encode(envOf(variable));
    const value = valueOf(args, arg);
    if (value === undefined) complete = false;
    return value === undefined ? '' : encode(asText(value));
  });
  return complete ? filled : undefined;
};

/** The texts that a template of one query parameter stands for: several where its only placeholder is a list. */
export const fillTexts = (template: string, fillings: Fillings): readonly string[] => {
  const [, name] = alone.exec(template) ?? [];
  const value = name === undefined ? undefined : valueOf(fillings.args, name);
  if (Array.isArray(value)) return (value as readonly Json[]).map(asText);
  const text = fillText(template, fillings);
  return text === undefined ? [] : [text];
};

/** Fills a JSON template: a text of one placeholder becomes the argument itself. Undefined when an argument is not given. */
export const fillJson = (template: Json, fillings: Fillings): Json | undefined => {
  if (typeof template === 'string') {
    const [, name] = alone.exec(template) ?? [];
    return name === undefined ? fillText(template, fillings) : valueOf(fillings.args, name);
  }
  if (Array.isArray(template))
    return (template as readonly Json[]).flatMap((item) => {
      const filled = fillJson(item, fillings);
      return filled === undefined ? [] : [filled];
    });
  if (!isObject(template)) return template;
  const members = Object.entries(template).map(([key, member]): [string, Json | undefined] => [
    key,
    member === undefined ? undefined : fillJson(member, fillings),
  ]);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
};

const valueOf = (args: JsonObject, name: string): Json | undefined => {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  return value ?? undefined;
};

/** A value as it stands in a text: texts as they are, everything else as JSON. */
export const asText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
