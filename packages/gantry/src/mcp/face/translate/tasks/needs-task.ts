import type { Relayed } from '../relayed.ts';

/**
 * Whether a server of 2025 carries a request out as a task only. A tool that may run either way is called plainly: what it asks and tells
 * then belongs to the call itself, which all clients understand.
 */
export const needsTask = ({ target, method, params }: Pick<Relayed, 'target' | 'method' | 'params'>): boolean =>
  method === 'tools/call' && typeof params['name'] === 'string' && target.needsTask(params['name']);
