import { parentPort } from 'node:worker_threads';
import type { EngineRun } from './engine-messages.ts';
import { loadEngine } from './load-engine.ts';
import { runScript } from './run-script.ts';

// Each run has an engine of its own, in a memory of its own, which is made while the worker waits. The code is compiled once.
const openEngine = await loadEngine();

let next = openEngine();
parentPort?.on('message', async (run: EngineRun) => {
  const engine = await next;
  parentPort?.postMessage(runScript(engine, run), []);
  next = openEngine();
});
