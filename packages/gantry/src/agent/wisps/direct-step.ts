import type { JsonObject } from '../../kernel/json.ts';
import { createSchemaValidator } from '../../schema/validate.ts';
import type { CallContext } from '../../tool/context.ts';
import { outcomeText } from '../../tool/outcome-text.ts';
import { findTool } from './find-tool.ts';
import { createFitParams } from './fit-params.ts';
import type { DirectStep } from './wisp-definition.ts';
import type { WispFailure } from './wisp-failure.ts';
import { failureOf } from './wisp-failure.ts';
import type { WispPorts, WispRun } from './wisp-ports.ts';
import { callContextOf } from './wisp-ports.ts';

/** How a step ended. */
export type StepEnd =
  | { readonly ok: true; readonly output: string; readonly tool?: string | undefined }
  | { readonly ok: false; readonly failure: WispFailure; readonly tool?: string | undefined };

/** Makes the one call of a step, its templates filled in. */
export type RunDirectStep = (
  step: DirectStep,
  filled: { readonly params: JsonObject; readonly data: string | undefined },
  run: WispRun,
  signal: AbortSignal,
) => Promise<StepEnd>;

/** The tool that a step calls beside those of servers. */
export const ownToolOf = ({ gateway, language, tool = '' }: DirectStep): string | undefined => {
  switch (gateway) {
    case 'script':
      return `execute_${language}_script`;
    case 'web':
      return tool;
    case 'mcp':
    case 'a2a':
      return undefined;
  }
};

/** Makes the runner of direct steps. */
export const createRunDirectStep = (ports: WispPorts): RunDirectStep => {
  const { invoker } = ports;
  const fitParams = createFitParams(ports, createSchemaValidator());

  const call = async (name: string, args: JsonObject, context: CallContext): Promise<StepEnd> => {
    const outcome = await invoker.invoke({ name, arguments: args }, context);
    return outcome.status === 'done'
      ? { ok: true, output: outcomeText(outcome), tool: name }
      : { ok: false, failure: failureOf(outcome), tool: name };
  };

  return async (step, { params, data }, run, signal) => {
    const own = ownToolOf(step);
    const namedTools = own === undefined ? undefined : new Set([own]);
    const context: CallContext = { ...callContextOf(run, signal), timeoutMs: step.timeoutMs, namedTools };
    if (own !== undefined) {
      const takesData = step.gateway === 'script' && data !== undefined && params['input_data'] === undefined;
      return call(own, takesData ? { ...params, input_data: data } : params, context);
    }
    if (step.gateway === 'a2a')
      return structural(
        `Agent "${step.agent ?? ''}" was not called: pipelines cannot call other agents here. Use a step with gateway "Mcp", "Script" or "Web", or an Llm step.`,
      );
    const found = await findTool(ports, { server: step.server, tool: step.tool ?? '' }, context);
    switch (found.kind) {
      case 'none':
        return { ok: false, failure: found.failure, tool: step.tool };
      case 'by-name':
        return call(
          'mcp_invoke_tool',
          { server_name: found.server, tool_name: found.tool, arguments: params },
          context,
        );
      case 'typed': {
        const { registration } = found.tool;
        const fitted = await fitParams(registration, params, { namespace: run.namespace, signal });
        if (!fitted.ok) return { ...structural(fitted.problem), tool: registration.name };
        return call(registration.name, fitted.params, context);
      }
    }
  };
};

const structural = (message: string): { readonly ok: false; readonly failure: WispFailure } => ({
  ok: false,
  failure: { category: 'Structural', message },
});
