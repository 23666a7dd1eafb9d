import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import variant from '@jitl/quickjs-wasmfile-release-sync';
import type { QuickJSSyncVariant, QuickJSWASMModule } from 'quickjs-emscripten-core';
import { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core';
import type { WasmInstance, WasmTable } from './web-assembly.ts';
import { webAssembly } from './web-assembly.ts';
import { withTableExport } from './with-table-export.ts';

/** QuickJS in a memory of its own. */
export interface Engine {
  readonly quickjs: QuickJSWASMModule;
  /** Its functions by number, for those of the host that it is to call. */
  readonly table: WasmTable;
}

const tableName = 'gantry_table';

/** Compiles QuickJS, once; gives what opens an engine of it. */
export const loadEngine = async (): Promise<() => Promise<Engine>> => {
  const code = await readFile(fileURLToPath(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')));
  const compiled = new webAssembly.Module(withTableExport(code, tableName));
  return async () => {
    let table: WasmTable | undefined;
    const instantiateWasm = (imports: object, onSuccess: (instance: WasmInstance) => void): object => {
      const instance = new webAssembly.Instance(compiled, imports);
      table = instance.exports[tableName] as WasmTable;
      onSuccess(instance);
      return instance.exports;
    };
    const quickjs = await newQuickJSWASMModuleFromVariant(
      newVariant(variant as unknown as QuickJSSyncVariant, { emscriptenModule: { instantiateWasm } }),
    );
    if (!table) throw new Error('QuickJS was started without the code it was given.');
    return { quickjs, table };
  };
};
