import type { JSValue, QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten-core';
import { Lifetime } from 'quickjs-emscripten-core';
import type { Engine } from './load-engine.ts';
import { webAssembly } from './web-assembly.ts';

/** The promises of a script that were rejected while nobody handled it. */
export interface Rejections {
  /** Why those were that nobody handles up to now, in their order. The handles are the caller's to dispose. */
  readonly unhandled: () => QuickJSHandle[];
}

/**
 * Watches the promises of a runtime, those of async functions and of `import()` too, which no code inside could.
 *
 * QuickJS tells its host of rejections (`JS_SetHostPromiseRejectionTracker`), but the binding does not hand that on. So the host's function is put
 * where the engine looks for it: two members of `JSRuntime`, the function and what it is given. Their place is that of
 * quickjs-wasmfile-release-sync 0.32.0 (QuickJS 2025-09-13), which the package pins; the tests of scripts fail when it moves.
 */
export const trackRejections = (
  { quickjs, table }: Engine,
  runtime: QuickJSRuntime,
  context: QuickJSContext,
): Rejections => {
  const memory: { readonly buffer: ArrayBuffer } = quickjs.getWasmMemory();
  const ffi = quickjs.getFFI();
  // By the value that is the promise. Each is held, so that no other gets its address.
  const rejected = new Map<bigint, ValuePointer>();
  // A value of the engine whose place is borrowed to point at another.
  const slot = context.newNumber(0);

  const onRejection: RejectionTracker = (contextAt, promise, _reason, isHandled) => {
    const at = contextAt as Parameters<typeof ffi.QTS_DupValuePointer>[0];
    const known = rejected.get(promise);
    if (isHandled !== 0) {
      rejected.delete(promise);
      if (known !== undefined) ffi.QTS_FreeValuePointer(at, known);
    } else if (known === undefined) {
      // The memory is another buffer whenever it has grown.
      const view = new DataView(memory.buffer);
      const own = view.getBigUint64(slot.value, true);
      view.setBigUint64(slot.value, BigInt.asUintN(64, promise), true);
      rejected.set(promise, ffi.QTS_DupValuePointer(at, slot.value));
      new DataView(memory.buffer).setBigUint64(slot.value, own, true);
    }
  };
  const index = table.grow(1);
  table.set(index, toEngineFunction(onRejection));
  const runtimeAt = Number(runtime['rt'].value);
  new DataView(memory.buffer).setUint32(runtimeAt + trackerOffset, index, true);

  return {
    unhandled: () =>
      [...rejected.values()].flatMap((at) => {
        const state = context.getPromiseState(
          new Lifetime<ValuePointer, ValuePointer, QuickJSRuntime>(at, undefined, undefined, runtime),
        );
        return state.type === 'rejected' ? [state.error] : [];
      }),
  };
};

type ValuePointer = JSValue['value'];

// Its neighbour, what the function is given beside the promise, stays zero.
const trackerOffset = 160;

/** `JSHostPromiseRejectionTracker`. Values are 64 bits wide, which JavaScript sees as signed numbers. */
type RejectionTracker = (context: number, promise: bigint, reason: bigint, isHandled: number, given: number) => void;

/** Only functions of WebAssembly code can stand in a table: this code hands on a function of its type as its own. */
const toEngineFunction = (tracker: RejectionTracker): unknown =>
  new webAssembly.Instance(new webAssembly.Module(trampoline), { h: { f: tracker } }).exports['f'];

// prettier-ignore
const trampoline = Uint8Array.of(
  0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
  // The type (i32, i64, i64, i32, i32) without a result; the import "h" "f" of it; the export "f".
  1, 9, 1, 0x60, 5, 0x7f, 0x7e, 0x7e, 0x7f, 0x7f, 0,
  2, 7, 1, 1, 0x68, 1, 0x66, 0, 0,
  7, 5, 1, 1, 0x66, 0, 0,
);
