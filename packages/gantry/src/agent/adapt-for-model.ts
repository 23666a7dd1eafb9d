import type { AdaptedTool } from '../schema/adapt/adapt-tool.ts';
import { adaptTool } from '../schema/adapt/adapt-tool.ts';
import type { Provider } from '../schema/adapt/provider.ts';
import type { ToolRegistration } from '../tool/registration.ts';

/** Which dialect of schemas a provider key (`google`, `google.generative-ai`, `anthropic.messages` …) takes. */
export const toDialect = (key: string | undefined): Provider => {
  const name = key?.toLowerCase() ?? '';
  if (name.includes('google') || name.includes('gemini') || name.includes('vertex')) return 'gemini';
  if (name.includes('anthropic')) return 'anthropic';
  return name === '' ? 'generic' : 'openai';
};

// A registration that has not changed keeps its object, and adapting a thousand of them takes longer than a turn may.
const adapted = new WeakMap<ToolRegistration, Map<Provider, AdaptedTool>>();

/** A tool in a provider's dialect; made once for each registration. */
export const adaptOnce = (registration: ToolRegistration, dialect: Provider): AdaptedTool => {
  let forms = adapted.get(registration);
  if (!forms) adapted.set(registration, (forms = new Map()));
  let form = forms.get(dialect);
  if (!form) forms.set(dialect, (form = adaptTool(registration, dialect)));
  return form;
};
