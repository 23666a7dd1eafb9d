import { existsSync, readlinkSync } from 'node:fs';

/** Names the process ids that this process sees; another container on the same machine has another. 0 where there is no such thing. */
export const pidNamespace = (): string =>
  existsSync('/proc/self/ns/pid') ? (/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0') : '0';

/** For names of what a process makes outside of itself: whoever finds it can tell whether its maker is still there. */
export const ownerTag = (): string => `${pidNamespace()}-${process.pid}`;

/** True when a name that holds an {@link ownerTag} after `prefix` tells of a maker that is gone. A maker elsewhere is never gone. */
export const isAbandoned = (name: string, prefix: string): boolean => {
  const [namespace, pid] = name.startsWith(prefix) ? name.slice(prefix.length).split('-') : [];
  if (namespace !== pidNamespace() || namespace === '0' || !/^\d+$/.test(pid ?? '')) return false;
  return !existsSync(`/proc/${pid}`);
};
