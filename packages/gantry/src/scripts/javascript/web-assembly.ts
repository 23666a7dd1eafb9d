/** What Gantry uses of the global `WebAssembly`, which neither the language's library nor Node's types describe. */
export interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule, imports: object) => WasmInstance;
}

/** Compiled code. */
export type WasmModule = object;

/** Code with a memory of its own. */
export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

/** Functions that code calls by number. */
export interface WasmTable {
  /** Makes room for that many more; gives the number of the first. */
  grow(by: number): number;
  set(at: number, value: unknown): void;
}

/** The global itself. */
export const webAssembly: WebAssemblyApi = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
