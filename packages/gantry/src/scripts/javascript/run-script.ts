import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten-core';
import { Scope } from 'quickjs-emscripten-core';
import { captureOutput } from '../process/captured-output.ts';
import type { EngineEnd, EngineRun } from './engine-messages.ts';
import type { Engine } from './load-engine.ts';
import { prelude } from './prelude.ts';
import type { Rejections } from './track-rejections.ts';
import { trackRejections } from './track-rejections.ts';

const maxStackBytes = 512 * 1024;

/**
 * Runs one script to its end in an engine that nothing else has used. The engine gives no file, network or module access. A rejection
 * that nobody has handled when the script is over fails it.
 */
export const runScript = (engine: Engine, run: EngineRun): EngineEnd => {
  const stdout = captureOutput(run.keptOutputBytes);
  const stderr = captureOutput(run.keptOutputBytes);
  // Its time begins with the script: what is made for it before must not be interrupted.
  let endsAtMs = Number.POSITIVE_INFINITY;
  let ended: EngineEnd['ended'];
  let exitCode: number | undefined;

  const runtime = engine.quickjs.newRuntime();
  runtime.setMemoryLimit(run.memoryBytes);
  runtime.setMaxStackSize(maxStackBytes);
  runtime.setInterruptHandler(() => {
    if (performance.now() > endsAtMs) ended ??= 'time';
    return ended !== undefined || exitCode !== undefined;
  });
  const context = runtime.newContext();
  const rejections = trackRejections(engine, runtime, context);

  const complain = (text: string): void => stderr.add(Buffer.from(`${text}\n`));
  const write = (stream: number, text: string): void => {
    (stream === 1 ? stdout : stderr).add(Buffer.from(text));
    if (stdout.totalBytes + stderr.totalBytes > run.maxOutputBytes) ended ??= 'output';
  };

  const failed = Scope.withScope((scope) => {
    const tools = scope.manage(openTools(context, { write, exit: (code) => (exitCode = code), env: run.env }));
    endsAtMs = performance.now() + run.timeoutMs;
    const result = context.evalCode(run.script, 'script.js', { type: 'module' });
    if (result.error) {
      complain(describe(context, tools, scope.manage(result.error)));
      return true;
    }
    const promise = scope.manage(result.value);
    const fault = settle(runtime, context, tools, promise);
    if (typeof fault === 'object') {
      complain(describe(context, tools, scope.manage(fault)));
      return true;
    }
    // exit() ends async functions too, by an error of its own.
    const unhandled = exitCode === undefined ? describeUnhandled(context, tools, rejections) : [];
    for (const text of unhandled) complain(text);
    if (fault !== undefined) complain(fault);
    return fault !== undefined || unhandled.length > 0;
  });

  return {
    exitCode: exitCode ?? (failed ? 1 : 0),
    stdout: stdout.toText(),
    // The interruption of a script that called exit() is no error of it.
    stderr: exitCode !== undefined && ended === undefined ? withoutInterruption(stderr.toText()) : stderr.toText(),
    stdoutBytes: stdout.totalBytes,
    stderrBytes: stderr.totalBytes,
    ended,
  };
};

interface HostFunctions {
  readonly write: (stream: number, text: string) => void;
  readonly exit: (code: number) => void;
  readonly env: Readonly<Record<string, string>>;
}

/** Installs console, timers and process; gives the object with which the host drives timers and shows values. */
const openTools = (context: QuickJSContext, { write, exit, env }: HostFunctions): QuickJSHandle =>
  Scope.withScope((scope) => {
    const make = scope.manage(context.unwrapResult(context.evalCode(prelude, 'prelude.js')));
    const given = scope.manage(context.newObject());
    const writeHandle = scope.manage(
      context.newFunction('write', (stream, text) => write(context.getNumber(stream), context.getString(text))),
    );
    const exitHandle = scope.manage(
      context.newFunction('exit', (code) => {
        exit(code === undefined || context.typeof(code) !== 'number' ? 0 : context.getNumber(code) & 0xff);
        // Thrown so that the script stops here; the interrupt handler stops whoever catches it.
        throw new Error(exitMark);
      }),
    );
    const envHandle = scope.manage(context.newObject());
    for (const [name, value] of Object.entries(env))
      context.setProp(envHandle, name, scope.manage(context.newString(value)));
    context.setProp(given, 'write', writeHandle);
    context.setProp(given, 'exit', exitHandle);
    context.setProp(given, 'env', envHandle);
    return context.unwrapResult(context.callFunction(make, context.undefined, given));
  });

/** Runs jobs and timers until the script is over; gives what went wrong. */
const settle = (
  runtime: QuickJSRuntime,
  context: QuickJSContext,
  tools: QuickJSHandle,
  promise: QuickJSHandle,
): QuickJSHandle | string | undefined => {
  for (;;) {
    const jobs = runtime.executePendingJobs();
    if (jobs.error) return jobs.error;
    jobs.dispose();
    const more = context.callMethod(tools, 'runTimer');
    if (more.error) return more.error;
    const ran = context.dump(more.value) === true;
    more.value.dispose();
    if (ran) continue;
    const state = context.getPromiseState(promise);
    switch (state.type) {
      case 'fulfilled':
        if (!state.notAPromise) state.value.dispose();
        return undefined;
      case 'rejected':
        return state.error;
      case 'pending':
        return 'The script waits for something that never comes: there is no network, and no other source of events than timers.';
    }
  }
};

const exitMark = 'exit() was called';

const describe = (context: QuickJSContext, tools: QuickJSHandle, error: QuickJSHandle): string => {
  const text = context.callMethod(tools, 'inspect', [error]);
  if (text.error) {
    // An engine without memory, or one that is interrupted, cannot run anything any more.
    text.error.dispose();
    const dumped = context.dump(error) as unknown;
    return typeof dumped === 'object' && dumped !== null && 'message' in dumped
      ? String(dumped.message)
      : String(dumped);
  }
  const value = context.getString(text.value);
  text.value.dispose();
  return value;
};

// The first says what went wrong; many would hide it.
const maxShownRejections = 5;

const describeUnhandled = (context: QuickJSContext, tools: QuickJSHandle, rejections: Rejections): string[] => {
  const reasons = rejections.unhandled();
  const shown = reasons
    .slice(0, maxShownRejections)
    .map((reason) => `Unhandled rejection: ${describe(context, tools, reason)}`);
  for (const reason of reasons) reason.dispose();
  const left = reasons.length - shown.length;
  return left > 0 ? [...shown, `Unhandled rejections not shown: ${left}.`] : shown;
};

const withoutInterruption = (text: string): string => {
  const at = text.lastIndexOf(exitMark);
  const interrupted = text.lastIndexOf('interrupted\n');
  const from = at >= 0 ? at : interrupted;
  return from < 0 ? text : text.slice(0, text.lastIndexOf('\n', from) + 1);
};
