import type { Gantry, ToolRegistration } from 'gantry';
import type { JsonObject } from '../../../packages/gantry/src/kernel/json.ts';
import type { Provider } from '../../../packages/gantry/src/schema/adapt/provider.ts';
import type { AdaptedTool } from '../../../packages/gantry/src/schema/adapt/adapt-tool.ts';
import { adaptTool } from '../../../packages/gantry/src/schema/adapt/adapt-tool.ts';
import { providerToolName } from '../../../packages/gantry/src/schema/tool-name.ts';
import { parseArguments } from '../../../packages/gantry/src/text/parse-arguments.ts';
import { NotCovered } from './verdict.ts';
import { asText } from './read-cases.ts';

const providers: readonly string[] = ['openai', 'openai-strict', 'anthropic', 'gemini', 'generic'] satisfies Provider[];

/** The provider that a case names. */
export const toProvider = (name: unknown): Provider => {
  if (typeof name === 'string' && providers.includes(name)) return name as Provider;
  throw new NotCovered(`the provider ${asText(name)} is not known`);
};

/** A tool as it is sent, and the one behind it. */
export interface Sent extends AdaptedTool {
  readonly name: string;
  readonly registration: ToolRegistration;
}

/** The tools of some sources as a model of this provider is sent them. */
export const sentTools = (gantry: Gantry, provider: Provider, isMeant: (source: string) => boolean): readonly Sent[] =>
  gantry
    .toolset({ caller: 'model', model: { provider } })
    .tools.filter(({ source }) => isMeant(source))
    .map((registration) => ({
      ...adaptTool(registration, provider),
      name: providerToolName(registration.name, provider),
      registration,
    }));

/** The arguments for the tool from what the model wrote; text that cannot be read stays as it is. */
export const restored = (sent: Sent, written: string): string | JsonObject => {
  const parsed = parseArguments(written);
  return parsed.ok ? sent.restore(parsed.value) : written;
};
