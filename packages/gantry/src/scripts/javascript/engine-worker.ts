import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import variant from '@jitl/quickjs-wasmfile-release-sync';
import type { QuickJSSyncVariant, QuickJSWASMModule } from 'quickjs-emscripten-core';
import { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core';
import type { EngineRun } from './engine-messages.ts';
import { runScript } from './run-script.ts';

// Neither the language's library nor Node's types describe this global.
const { compile } = (globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<object> } })
  .WebAssembly;

// Each run has an engine of its own, in a memory of its own, which is made while the worker waits. The code is compiled once.
const wasm = await readFile(fileURLToPath(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')));
const wasmModule = await compile(wasm);
const openEngine = (): Promise<QuickJSWASMModule> =>
  newQuickJSWASMModuleFromVariant(newVariant(variant as unknown as QuickJSSyncVariant, { wasmModule }));

let next = openEngine();
parentPort?.on('message', async (run: EngineRun) => {
  const engine = await next;
  parentPort?.postMessage(runScript(engine, run), []);
  next = openEngine();
});
