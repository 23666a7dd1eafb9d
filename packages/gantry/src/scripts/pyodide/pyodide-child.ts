import { constants, writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';

// A process that runs one Python script in WebAssembly and ends. It is started under Node's permission model, with nothing
// but the folder of Pyodide to read, and waits for its order: a JSON object (`script`, `env`) as the whole of standard input.

// Pyodide asks for the flags of open() this way, which the permission model refuses.
Object.assign(process, { binding: () => ({ fs: constants }) });

interface Pyodide {
  setStdout(options: { write: (bytes: Uint8Array) => number }): void;
  setStderr(options: { write: (bytes: Uint8Array) => number }): void;
  setStdin(options: { error: boolean }): void;
  readonly globals: { set(name: string, value: unknown): void };
  runPythonAsync(code: string): Promise<unknown>;
}

/** Runs `_source` the way Python runs a file, and gives the exit code. */
const harness = `
import ast, inspect, os, sys, traceback
async def _run(source, variables):
    os.environ.clear()
    os.environ.update(variables)
    os.makedirs("/work", exist_ok=True)
    os.chdir("/work")
    sys.argv = ["script.py"]
    scope = {"__name__": "__main__", "__file__": "script.py", "__builtins__": __builtins__}
    try:
        run = eval(compile(source, "script.py", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), scope)
        if inspect.isawaitable(run):
            await run
        return 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return int(end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        traceback.print_exception(error.with_traceback(error.__traceback__.tb_next if error.__traceback__ else None))
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
await _run(_source, dict(_variables))
`;

const [packageUrl] = process.argv.slice(2);
const { loadPyodide } = (await import(packageUrl as string)) as {
  loadPyodide: (options: { env: object }) => Promise<Pyodide>;
};
const pyodide = await loadPyodide({ env: {} });
const to = (descriptor: number) => ({
  write: (bytes: Uint8Array): number => writeSync(descriptor, bytes),
});
pyodide.setStdout(to(1));
pyodide.setStderr(to(2));
pyodide.setStdin({ error: true });

// Not read directly, since Pyodide leaves the descriptor so that a read before the order has come would fail.
const order = await text(process.stdin);
if (order !== '') {
  const { script, env } = JSON.parse(order) as { script: string; env: Record<string, string> };
  pyodide.globals.set('_source', script);
  pyodide.globals.set('_variables', Object.entries(env));
  process.exit(Number(await pyodide.runPythonAsync(harness)));
}
