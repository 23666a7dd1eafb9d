import { describe, expect, it } from 'vitest';
import type { ServerEntry } from '../mcp/bridge/config/server-entry.ts';
import type { ServerStatus } from '../mcp/wire/server-state.ts';
import { makeOperationDeps } from '../testing/make-operation-deps.ts';
import type { OperationDeps } from './operation-deps.ts';
import {
  serversAdd,
  serversDisable,
  serversEnable,
  serversLoginFinish,
  serversLoginStart,
  serversRemove,
} from './servers-edit.ts';

const status = (name: string): ServerStatus => ({
  name,
  id: '0123456789ab',
  state: 'connected',
  transport: 'streamable-http',
  protocolVersion: null,
  tools: 1,
  prompts: 0,
  resources: 0,
  fingerprint: null,
  origin: 'operator',
});

const withEdits = (): { deps: OperationDeps; done: unknown[] } => {
  const done: unknown[] = [];
  const note = (...what: unknown[]): Promise<ServerStatus> => {
    done.push(what);
    return Promise.resolve(status(String(what[1])));
  };
  const deps = makeOperationDeps([], {
    serverEdits: {
      add: (name: string, entry: ServerEntry) => note('add', name, entry),
      remove: async (name) => void (await note('remove', name)),
      setEnabled: (name, isEnabled) => note('setEnabled', name, isEnabled),
      startSignIn: async (name, redirectUrl) => {
        await note('start', name, redirectUrl);
        return { authorizationUrl: 'https://as.example/authorize', state: 's' };
      },
      finishSignIn: ({ state, code }) => note('finish', 'wiki', state, code),
    },
  });
  return { deps, done };
};

describe('a server', () => {
  it('is added with what was given and nothing else', async () => {
    const { deps, done } = withEdits();
    const added = await serversAdd.handler(
      { name: 'wiki', url: 'https://w.example/mcp', command: undefined },
      deps,
      {},
    );
    expect(serversAdd.output.safeParse(added).error).toBeUndefined();
    expect(done).toEqual([['add', 'wiki', { url: 'https://w.example/mcp' }]]);
  });

  it.each([{}, { url: 'https://w.example/mcp', command: 'node' }])(
    'is an address or a program, not %j',
    async (entry) => {
      await expect(serversAdd.handler({ name: 'wiki', ...entry }, withEdits().deps, {})).rejects.toMatchObject({
        code: 'invalid_arguments',
        message: expect.stringContaining('either') as string,
      });
    },
  );

  it('is removed, and switched on and off', async () => {
    const { deps, done } = withEdits();
    expect(await serversRemove.handler({ name: 'wiki' }, deps, {})).toEqual({ removed: 'wiki' });
    expect(await serversEnable.handler({ name: 'wiki' }, deps, {})).toEqual({ server: status('wiki') });
    await serversDisable.handler({ name: 'wiki' }, deps, {});
    expect(done).toEqual([
      ['remove', 'wiki'],
      ['setEnabled', 'wiki', true],
      ['setEnabled', 'wiki', false],
    ]);
  });

  it('is signed in to in two steps', async () => {
    const { deps, done } = withEdits();
    const redirectUrl = 'http://127.0.0.1:1/callback';
    const step = await serversLoginStart.handler({ name: 'wiki', redirectUrl }, deps, {});
    expect(step).toEqual({ authorizationUrl: 'https://as.example/authorize', state: 's' });
    expect(await serversLoginFinish.handler({ state: 's', code: 'c' }, deps, {})).toEqual({ server: status('wiki') });
    expect(done).toEqual([
      ['start', 'wiki', redirectUrl],
      ['finish', 'wiki', 's', 'c'],
    ]);
  });
});

it('says that there is nothing to change where no bridge is in use', async () => {
  await expect(serversRemove.handler({ name: 'wiki' }, makeOperationDeps(), {})).rejects.toMatchObject({
    code: 'server_unknown',
  });
});
