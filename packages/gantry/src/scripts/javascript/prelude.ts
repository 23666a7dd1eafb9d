/**
 * JavaScript that runs before each script in the embedded engine: console, timers and process, made of the three functions
 * that the host gives (`write(stream, text)`, `exit(code)`, `env`). Timers run in the order of their time without waiting for it.
 */
export const prelude = `
(({ write, exit, env }) => {
  const inspect = (value, seen = [], depth = 0) => {
    if (typeof value === 'string') return depth === 0 ? value : JSON.stringify(value);
    if (typeof value === 'bigint') return value + 'n';
    if (typeof value === 'function') return '[Function ' + (value.name || '(anonymous)') + ']';
    if (typeof value !== 'object' || value === null) return String(value);
    if (value instanceof Error) return String(value) + (value.stack ? '\\n' + value.stack.trimEnd() : '');
    if (value instanceof Date) return isNaN(value) ? 'Invalid Date' : value.toISOString();
    if (value instanceof RegExp) return String(value);
    if (seen.includes(value)) return '[Circular]';
    if (depth > 4) return Array.isArray(value) ? '[Array]' : '[Object]';
    const inner = (each) => inspect(each, [...seen, value], depth + 1);
    if (Array.isArray(value) || ArrayBuffer.isView(value)) return '[ ' + Array.from(value, inner).join(', ') + ' ]';
    if (value instanceof Map) return 'Map(' + value.size + ') { ' + [...value].map(([k, v]) => inner(k) + ' => ' + inner(v)).join(', ') + ' }';
    if (value instanceof Set) return 'Set(' + value.size + ') { ' + [...value].map(inner).join(', ') + ' }';
    if (value instanceof Promise) return 'Promise {}';
    const members = Object.entries(value).map(([k, v]) => (/^[A-Za-z_$][\\w$]*$/.test(k) ? k : JSON.stringify(k)) + ': ' + inner(v));
    const kind = value.constructor && value.constructor !== Object ? value.constructor.name + ' ' : '';
    return members.length === 0 ? kind + '{}' : kind + '{ ' + members.join(', ') + ' }';
  };
  const line = (values) => values.map((value) => inspect(value)).join(' ') + '\\n';
  const out = (...values) => write(1, line(values));
  const err = (...values) => write(2, line(values));
  globalThis.console = { log: out, info: out, debug: out, dir: out, table: out, error: err, warn: err, trace: err };
  globalThis.print = out;
  globalThis.exit = exit;
  globalThis.process = { env, argv: ['javascript', 'script.js'], platform: 'sandbox', exit, stdout: { write: (text) => (write(1, String(text)), true) }, stderr: { write: (text) => (write(2, String(text)), true) } };
  const timers = [];
  let nowMs = 0, lastId = 0;
  const add = (run, delayMs, args, everyMs) => {
    if (typeof run !== 'function') throw new TypeError('A timer needs a function.');
    const timer = { id: ++lastId, atMs: nowMs + Math.max(0, Number(delayMs) || 0), run: () => run(...args), everyMs };
    timers.push(timer);
    return timer.id;
  };
  const remove = (id) => {
    const at = timers.findIndex((timer) => timer.id === id);
    if (at >= 0) timers.splice(at, 1);
  };
  globalThis.setTimeout = (run, delayMs, ...args) => add(run, delayMs, args);
  globalThis.setInterval = (run, delayMs, ...args) => add(run, delayMs, args, Math.max(1, Number(delayMs) || 0));
  globalThis.setImmediate = (run, ...args) => add(run, 0, args);
  globalThis.clearTimeout = globalThis.clearInterval = globalThis.clearImmediate = remove;
  globalThis.queueMicrotask ??= (run) => void Promise.resolve().then(run);
  globalThis.structuredClone ??= (value) => JSON.parse(JSON.stringify(value));
  return {
    inspect,
    runTimer: () => {
      if (timers.length === 0) return false;
      const next = timers.reduce((first, timer) => (timer.atMs < first.atMs ? timer : first));
      nowMs = Math.max(nowMs, next.atMs);
      if (next.everyMs === undefined) remove(next.id);
      else next.atMs = nowMs + next.everyMs;
      next.run();
      return true;
    },
  };
})
`;
