import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findGroupMaker, groupName } from './cgroup.ts';
import type { GroupMaker } from './cgroup.ts';
import type { GroupTree } from './group-tree.ts';

const limits = { memoryBytes: 1000, maxProcesses: 7 };
const root = '/sys/fs/cgroup';

class Refusal extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** Groups in memory that refuse what the kernel refuses. */
const fakeKernel = (options: {
  readonly own: string;
  /** Folders that are there from the beginning, with the processes in them. */
  readonly groups: Readonly<Record<string, readonly number[]>>;
  readonly unified: boolean;
  readonly pid?: number;
  readonly children?: Readonly<Record<number, readonly number[]>>;
  readonly alive?: readonly number[];
}) => {
  const processes = new Map(Object.entries(options.groups).map(([path, pids]) => [path, new Set(pids)]));
  const files = new Map<string, string>();
  const { pid = 100 } = options;
  const handsDown = (folder: string): boolean =>
    /\+memory \+pids/.test(files.get(join(folder, 'cgroup.subtree_control')) ?? '');
  const isLimit = (path: string): boolean => /\/(memory|pids)\.[a-z_.]+$/.test(path);
  const tree: GroupTree = {
    root,
    pid,
    pidNamespace: '4026531836',
    ownGroups: () => options.own,
    isAlive: (each) => (options.alive ?? [pid]).includes(each),
    kill: (each) => {
      for (const pids of processes.values()) pids.delete(each);
    },
    childrenOf: async (each) => options.children?.[each] ?? [],
    has: (path) => processes.has(path) || (options.unified && path === join(root, 'cgroup.controllers')),
    read: async (path) => {
      const folder = dirname(path);
      if (path.endsWith('cgroup.procs')) return `${[...(processes.get(folder) ?? [])].join('\n')}\n`;
      return files.get(path) ?? '';
    },
    write: async (path, text) => {
      const folder = dirname(path);
      if (!processes.has(folder)) throw new Refusal('ENOENT');
      if (path.endsWith('cgroup.procs')) {
        for (const pids of processes.values()) pids.delete(Number(text));
        processes.get(folder)?.add(Number(text));
        return;
      }
      if (path.endsWith('subtree_control') && folder !== root && processes.get(folder)?.size)
        throw new Refusal('EBUSY');
      if (path.endsWith('cgroup.kill')) processes.get(folder)?.clear();
      if (options.unified && isLimit(path) && !handsDown(dirname(folder))) throw new Refusal('ENOENT');
      files.set(path, text);
    },
    list: async (path) =>
      [...processes.keys()].filter((each) => dirname(each) === path).map((each) => each.slice(path.length + 1)),
    make: async (path) => {
      if (!processes.has(dirname(path))) throw new Refusal('ENOENT');
      processes.set(path, new Set());
    },
    remove: async (path) => {
      if (processes.get(path)?.size) throw new Refusal('EBUSY');
      processes.delete(path);
    },
  };
  return { tree, files, processes };
};

const makerOf = async (tree: GroupTree): Promise<GroupMaker> => {
  const found = await findGroupMaker(tree);
  if (typeof found === 'string') throw new Error(found);
  return found;
};

describe('unified groups', () => {
  const service = join(root, 'system.slice/gantry.service');
  const own = '0::/system.slice/gantry.service\n';

  it('bounds the memory and the processes of a run, counts refusals, and ends what is left', async () => {
    const { tree, files, processes } = fakeKernel({ own: '0::/\n', groups: { [root]: [1, 100] }, unified: true });
    const maker = await makerOf(tree);
    expect(maker.description).toBe('control groups, version 2');
    const group = await maker.create('gantry-run', limits);
    const folder = join(root, 'gantry-run');
    expect(group.joinFiles).toEqual([join(folder, 'cgroup.procs')]);
    expect(files.get(join(folder, 'memory.max'))).toBe('1000');
    expect(files.get(join(folder, 'memory.swap.max'))).toBe('0');
    expect(files.get(join(folder, 'pids.max'))).toBe('7');
    files.set(join(folder, 'memory.events'), 'low 0\noom 2\noom_kill 1\n');
    files.set(join(folder, 'pids.events'), 'max 5\n');
    expect(await group.events()).toEqual({ oomKills: 1, refusedForks: 5 });
    processes.get(folder)?.add(200);
    await group[Symbol.asyncDispose]();
    expect(files.get(join(folder, 'cgroup.kill'))).toBe('1');
    expect([...processes.keys()]).toEqual([root]);
  });

  it('moves Gantry and what it started out of a group of its own, which then hands controllers down', async () => {
    const groups = { [root]: [1], [join(root, 'system.slice')]: [], [service]: [100, 101, 102] };
    const { tree, processes } = fakeKernel({ own, groups, unified: true, children: { 100: [101], 101: [102] } });
    await using group = await (await makerOf(tree)).create('gantry-run', limits);
    expect(group.joinFiles).toEqual([join(service, 'gantry-run/cgroup.procs')]);
    expect([...(processes.get(join(service, 'gantry-host')) ?? [])]).toEqual([100, 101, 102]);
  });

  it('makes groups beside the one that Gantry has moved into', async () => {
    const groups = { [service]: [], [join(service, 'gantry-host')]: [100] };
    const { tree } = fakeKernel({ own: own.replace('\n', '/gantry-host\n'), groups, unified: true });
    expect((await makerOf(tree)).parents).toEqual([service]);
  });

  it('moves nobody else, and says what to do instead', async () => {
    const { tree, processes } = fakeKernel({ own, groups: { [service]: [100, 999] }, unified: true });
    expect(await findGroupMaker(tree)).toContain('holds 1 other processes; run it as a service of its own');
    expect([...processes.keys()]).toEqual([service]);
  });

  it('gives the reason where nothing can be written', async () => {
    const { tree } = fakeKernel({ own, groups: {}, unified: true });
    expect(await findGroupMaker(tree)).toBe(
      'control groups, version 2: ENOENT; no control groups for memory and processes',
    );
  });
});

describe('separate groups', () => {
  const own = '8:pids:/box\n4:memory:/box\n0::/\n';
  const [memory, pids] = [join(root, 'memory/box'), join(root, 'pids/box')];

  it('bounds a run in both hierarchies', async () => {
    const { tree, files, processes } = fakeKernel({ own, groups: { [memory]: [], [pids]: [] }, unified: false });
    const maker = await makerOf(tree);
    const group = await maker.create('gantry-run', limits);
    expect(group.joinFiles).toEqual([join(memory, 'gantry-run/cgroup.procs'), join(pids, 'gantry-run/cgroup.procs')]);
    expect(files.get(join(memory, 'gantry-run/memory.limit_in_bytes'))).toBe('1000');
    expect(files.get(join(pids, 'gantry-run/pids.max'))).toBe('7');
    processes.get(join(memory, 'gantry-run'))?.add(200);
    processes.get(join(pids, 'gantry-run'))?.add(200);
    await group[Symbol.asyncDispose]();
    expect(files.get(join(pids, 'gantry-run/pids.max'))).toBe('0');
    expect([...processes.keys()]).toEqual([memory, pids]);
  });

  it('does not keep quiet about processes that cannot be ended', async () => {
    const { tree, processes } = fakeKernel({ own, groups: { [memory]: [], [pids]: [] }, unified: false });
    const group = await (await makerOf({ ...tree, kill: () => {} })).create('gantry-run', limits);
    processes.get(join(pids, 'gantry-run'))?.add(200);
    await expect(group[Symbol.asyncDispose]()).rejects.toThrow(
      /could not be ended; they are in .*pids\/box\/gantry-run/,
    );
  });

  it('leaves nothing of a group that can be made in one of them only', async () => {
    const { tree, processes } = fakeKernel({ own, groups: { [memory]: [] }, unified: false });
    expect(await findGroupMaker(tree)).toContain('version 1: ENOENT');
    expect([...processes.keys()]).toEqual([memory]);
  });

  it('takes the mount itself where the path is that of the host', async () => {
    const groups = { [join(root, 'memory')]: [], [join(root, 'pids')]: [] };
    const { tree } = fakeKernel({ own: own.replaceAll('/box', '/docker/1'), groups, unified: false });
    expect((await makerOf(tree)).parents).toEqual([join(root, 'memory'), join(root, 'pids')]);
  });
});

describe('groups that were left', () => {
  it('are removed when their maker is gone, with what is left in them; never those of another container', async () => {
    const [dead, alive, full, foreign] = [
      '4026531836-55-a',
      '4026531836-66-a',
      '4026531836-77-a',
      '4026532000-55-a',
    ].map((name) => join(root, `gantry-${name}`)) as [string, string, string, string];
    const groups = { [root]: [1], [dead]: [], [alive]: [], [full]: [300], [foreign]: [] };
    const { tree, processes } = fakeKernel({ own: '0::/\n', groups, unified: true, alive: [100, 66] });
    await makerOf(tree);
    expect([...processes.keys()]).toEqual([root, alive, foreign]);
    expect(groupName('a', tree)).toBe('gantry-4026531836-100-a');
  });
});
