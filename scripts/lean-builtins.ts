/**
 * Built-in modules of Node that the command's bundle takes in parts. Node reads every name of a built-in module when the first ES module
 * imports it, and reading `WebSocket` of `node:http` loads a whole second HTTP library (50 ms, 15 MB); `node:http2` is loaded by our
 * libraries for the case that a peer speaks HTTP/2 (6 MB).
 */
import http from 'node:http';
import { constants } from 'node:http2';
import type { Plugin } from 'rolldown';

const late = new Set(['WebSocket', 'CloseEvent', 'MessageEvent']);

const sources: Readonly<Record<string, string>> = {
  'node:http': `
    const http = process.getBuiltinModule('node:http');
    export default http;
    export const { ${Object.keys(http)
      .filter((name) => !late.has(name))
      .join(', ')} } = http;`,
  'node:http2': `
    export const constants = ${JSON.stringify(constants)};
    export const connect = (...given) => process.getBuiltinModule('node:http2').connect(...given);
    /** What a server of HTTP/2 hands out. The command makes none. */
    export class Http2ServerRequest {}`,
};

/** The plugin of the bundler that puts these in the place of the modules. */
export const leanBuiltins: Plugin = {
  name: 'lean-builtins',
  resolveId: (id) => {
    const name = id.startsWith('node:') ? id : `node:${id}`;
    return name in sources ? `\0${name}` : undefined;
  },
  load: (id) => (id.startsWith('\0node:') ? sources[id.slice(1)] : undefined),
};
