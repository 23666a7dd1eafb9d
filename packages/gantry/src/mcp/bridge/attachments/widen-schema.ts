import { isObject } from '../../../kernel/json.ts';
import type { DownstreamTool } from '../../wire/manage-messages.ts';
import type { AttachmentManifest } from './manifest.ts';

type Members = Readonly<Record<string, unknown>>;

const pathItem: Members = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Path of a file in the folder "attachments" of the shared folder.' },
  },
  required: ['path'],
};
const saveText = '"save" writes the file to the shared folder and returns its path.';

/**
 * The tool as callers may use it: its schema also takes `{ path }` where it takes files, and `"mode": "save"` where that is understood.
 * A tool that the manifest does not speak of is returned as it is.
 */
export const withPathsInSchema = (tool: DownstreamTool, manifest: AttachmentManifest): DownstreamTool => {
  const properties: unknown = (tool.inputSchema as Members)['properties'];
  const known: Members = isObject(properties) ? properties : {};
  const changed: Record<string, unknown> = {};
  for (const name of manifest.listArguments) {
    const list = Object.hasOwn(known, name) ? widenList(known[name]) : undefined;
    if (list) changed[name] = list;
  }
  if (manifest.savingTools.has(tool.name.toLowerCase())) changed['mode'] = widenMode(known['mode']);
  return Object.keys(changed).length === 0
    ? tool
    : {
        ...tool,
        inputSchema: { ...tool.inputSchema, properties: { ...known, ...changed } } as DownstreamTool['inputSchema'],
      };
};

/** The schema of a list whose items may be paths; undefined when it is none, or takes any items already. */
const widenList = (schema: unknown): Members | undefined => {
  if (!isObject(schema)) return undefined;
  const { items } = schema;
  if (isObject(items)) return { ...schema, items: { anyOf: [pathItem, items] } };
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = schema[keyword];
    if (!Array.isArray(branches)) continue;
    const widened = (branches as unknown[]).map((branch) => widenList(branch) ?? branch);
    if (widened.some((branch, index) => branch !== branches[index])) return { ...schema, [keyword]: widened };
  }
  return undefined;
};

const widenMode = (schema: unknown): Members => {
  if (!isObject(schema)) return { type: 'string', description: saveText };
  const { const: only, ...rest } = schema;
  const { description, enum: values, anyOf, oneOf } = rest;
  const described = typeof description === 'string' ? `${description} ${saveText}` : saveText;
  const widened: Record<string, unknown> = { ...rest, description: described };
  if (only !== undefined) widened['enum'] = [only, 'save'];
  if (Array.isArray(values)) widened['enum'] = [...new Set([...(values as unknown[]), 'save'])];
  if (Array.isArray(anyOf)) widened['anyOf'] = [...(anyOf as unknown[]), { const: 'save' }];
  // A value may fit only one of these, and "save" may fit one that is there.
  if (Array.isArray(oneOf)) {
    delete widened['oneOf'];
    widened['anyOf'] = [{ oneOf }, { const: 'save' }];
  }
  return widened;
};
