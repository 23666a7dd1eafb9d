/**
 * The address of a module that runs in a worker or a program of its own, named by its path below the root of the library.
 * Holds when the sources run directly, in the build, and in the bundle of the command, whose files stand as deep as this one.
 *
 * @example new Worker(workerUrl('web/page-worker'))
 */
export const workerUrl = (module: string): URL =>
  new URL(`../${module}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
