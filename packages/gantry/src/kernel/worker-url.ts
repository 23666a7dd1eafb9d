/**
 * The address of a worker module that holds both when the sources run directly and in the build.
 *
 * @example new Worker(workerUrl('./parse-worker', import.meta.url))
 */
export const workerUrl = (module: string, importer: string): URL =>
  new URL(`${module}${importer.endsWith('.ts') ? '.ts' : '.js'}`, importer);
