/**
 * One pipeline: its steps one after another, each with the outputs of those before. What a step gives is kept in working memory and, where
 * asked, in a file; what goes wrong is a result and never thrown, except that the whole was given up.
 */
import { orAborted, startDeadline, throwIfAborted } from '../../kernel/abort.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { giveWay } from '../../kernel/side-by-side.ts';
import type { StepEnd } from './direct-step.ts';
import { createRunDirectStep } from './direct-step.ts';
import { runLlmStep } from './llm-step.ts';
import type { StepOutput } from './step-data.ts';
import { dataBlock, previousBlocks, readData } from './step-data.ts';
import type { WispDefinition, WispStep } from './wisp-definition.ts';
import type { WispFailure } from './wisp-failure.ts';
import type { WispPorts, WispRun } from './wisp-ports.ts';
import type { ValueOf } from './wisp-templates.ts';
import { fillText, fillValue, filledChars, referencesIn } from './wisp-templates.ts';

/** How a step of a pipeline went. */
export interface RanStep {
  readonly id: string;
  readonly status: 'done' | 'failed' | 'skipped';
  readonly durationMs: number;
  readonly failure?: WispFailure | undefined;
}

/** How a pipeline went. */
export interface WispResult {
  readonly wispId: string;
  readonly definition: WispDefinition;
  readonly isSuccess: boolean;
  readonly durationMs: number;
  readonly steps: readonly RanStep[];
  /** What the last step that succeeded gave. */
  readonly output: string | undefined;
  /** What ended it. */
  readonly failure?:
    | (WispFailure & { readonly stepId?: string | undefined; readonly tool?: string | undefined })
    | undefined;
  /** What did not go as asked without ending it. */
  readonly warnings: readonly string[];
}

/** Runs a pipeline. @throws {GantryError} the reason, when the signal aborts; `stopped`. */
export type RunWisp = (
  wispId: string,
  definition: WispDefinition,
  run: WispRun,
  signal: AbortSignal,
) => Promise<WispResult>;

const outputTtlMs = 60 * 60_000;
const doneTtlMs = 5 * 60_000;
const category = 'wisp-output';
/** A few references to long results, several steps in a row, would fill the memory of the process. */
const mostFilledChars = 2_000_000;

/** Makes the runner of pipelines. */
export const createRunWisp = (ports: WispPorts): RunWisp => {
  const { clock, memory, volume, log } = ports;
  const runDirect = createRunDirectStep(ports);

  const keep = async (namespace: string, stepId: string, text: string, ttlMs: number): Promise<string> => {
    const key = `${stepId}/output`;
    return (await memory.stash({ namespace, key, text, category, ttlMs })) ?? `${namespace}/${key}`;
  };

  const runStep = async (
    step: WispStep,
    definition: WispDefinition,
    run: WispRun,
    outputs: readonly StepOutput[],
    signal: AbortSignal,
  ): Promise<StepEnd> => {
    const valueOf: ValueOf = ({ stepId, field }) => {
      const output = outputs.find((one) => one.stepId === stepId);
      if (!output) return undefined;
      return field === 'result' ? output.text : definition.steps.find(({ id }) => id === stepId)?.outputTo;
    };
    const written = step.mode === 'llm' ? [step.prompt, step.inputFrom ?? ''] : [step.params, step.inputFrom ?? ''];
    const open = referencesIn(written).find((reference) => valueOf(reference) === undefined);
    if (open)
      return structural(
        `${open.text} leads to nothing: step "${open.stepId}" gave no result, because it failed or was skipped.`,
      );
    const chars = filledChars(written, valueOf);
    if (chars > mostFilledChars)
      return structural(
        `Its templates come to ${chars} characters, and ${mostFilledChars} are the most; name the data in "input_from", or let a Script step cut it down.`,
      );
    const name = step.inputFrom === undefined ? undefined : fillText(step.inputFrom, valueOf);
    const text = name === undefined ? undefined : await readData(name, ports, run, outputs);
    if (name !== undefined && text === undefined)
      return structural(
        `"input_from" names "${name.slice(0, 200)}", which is no earlier step that succeeded, no key of working memory and no text file of the shared folder.`,
      );
    if (step.mode === 'direct')
      return runDirect(step, { params: fillValue(step.params, valueOf) as JsonObject, data: text }, run, signal);
    const data =
      name !== undefined && text !== undefined
        ? await dataBlock({ name, stepId: step.id, text }, ports, run)
        : previousBlocks(outputs);
    const message = [fillText(step.prompt, valueOf), data].filter((part) => part !== '').join('\n\n');
    return runLlmStep(ports, { message, definition }, run, signal);
  };

  /** Never longer than its time, whether or not what it runs listens. */
  const runInTime = async (
    step: WispStep,
    definition: WispDefinition,
    run: WispRun,
    outputs: readonly StepOutput[],
    signal: AbortSignal,
  ): Promise<StepEnd> => {
    using deadline = startDeadline(clock, step.timeoutMs, { signal, keepsAlive: true });
    try {
      return await orAborted(runStep(step, definition, run, outputs, deadline.signal), deadline.signal);
    } catch (error) {
      throwIfAborted(signal);
      if (GantryError.is(error) && error.code === 'stopped') throw error;
      const failure: WispFailure = { category: 'External', message: messageOf(error) };
      return { ok: false, failure };
    }
  };

  return async (wispId, definition, run, signal) => {
    const startedMs = clock.elapsedMs();
    const outputs: StepOutput[] = [];
    const steps: RanStep[] = [];
    const warnings: string[] = [];
    let failure: WispResult['failure'];
    let skipTo: string | undefined;
    for (const step of definition.steps) {
      await giveWay();
      throwIfAborted(signal);
      if (skipTo !== undefined && step.id !== skipTo) {
        steps.push({ id: step.id, status: 'skipped', durationMs: 0 });
        continue;
      }
      skipTo = undefined;
      const stepStartedMs = clock.elapsedMs();
      const end = await runInTime(step, definition, run, outputs, signal);
      const durationMs = Math.round(clock.elapsedMs() - stepStartedMs);
      if (!end.ok) {
        steps.push({ id: step.id, status: 'failed', durationMs, failure: end.failure });
        // A model step gave nothing that could be gone on from.
        if (step.mode === 'direct' && step.onFailure.action === 'skip_to') {
          ({ skipTo } = step.onFailure);
          warnings.push(
            `step "${step.id}" failed (${end.failure.category}: ${end.failure.message.slice(0, 300)}), went on with "${skipTo}"`,
          );
          continue;
        }
        failure = { ...end.failure, stepId: step.id, tool: end.tool };
        break;
      }
      const key = await keep(run.namespace, step.id, end.output, outputTtlMs);
      outputs.push({ stepId: step.id, text: end.output, key });
      if (step.outputTo !== undefined)
        try {
          await volume.write(step.outputTo, Buffer.from(end.output), { overwrite: true });
        } catch (error) {
          log.warn(
            { wispId, step: step.id, reason: messageOf(error) },
            'the output of a step was not written to its file',
          );
          warnings.push(`step "${step.id}": "output_to" was not written: ${messageOf(error)}`);
        }
      steps.push({ id: step.id, status: 'done', durationMs });
    }
    // What worked is in the result; what failed is kept to be looked at.
    if (!failure) for (const { stepId, text } of outputs) await keep(run.namespace, stepId, text, doneTtlMs);
    return {
      wispId,
      definition,
      isSuccess: failure === undefined,
      durationMs: Math.round(clock.elapsedMs() - startedMs),
      steps,
      output: outputs.at(-1)?.text,
      failure,
      warnings,
    };
  };
};

const structural = (message: string): StepEnd => ({ ok: false, failure: { category: 'Structural', message } });
