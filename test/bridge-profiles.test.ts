import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toAuthProfile } from '../packages/gantry/src/mcp/bridge/auth/auth-profile.ts';
import type { ModelPort } from '../packages/gantry/src/tool/model-port.ts';
import { startBridge } from './fixtures/bridge-harness.ts';
import type { RawServer, Script } from './fixtures/raw-server.ts';
import { endWith, startRawServer, toolNamed } from './fixtures/raw-server.ts';

/** A server that wants one of these tokens for everything. */
const startGuarded = (isValid: (token: string | undefined) => boolean): Promise<RawServer> => {
  const guarded =
    (script: Script): Script =>
    (request, response) =>
      isValid(request.headers.authorization) ? script(request, response) : endWith(response, 401);
  return startRawServer({
    initialize: guarded(() => ({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'guarded', version: '1.0.0' },
    })),
    'tools/list': guarded(() => ({ tools: [toolNamed('echo')] })),
    'tools/call': guarded(() => ({ content: [{ type: 'text', text: 'done' }] })),
  });
};

describe('an auth profile', () => {
  it('gives the token of every request, before an authorization that the entry has too', async () => {
    await using server = await startGuarded((token) => token === 'Bearer from-profile');
    const entry = { url: server.url, auth: { profile: 'corp' }, headers: { Authorization: 'Bearer old-and-static' } };
    await using t = await startBridge({ s: entry }, { authProfiles: { corp: { token: async () => 'from-profile' } } });
    await t.bridge.ready();
    expect(await t.text('s', 'echo')).toBe('done');
    expect(t.log.some(({ level, message }) => level === 'warn' && message.includes('"auth" replaces'))).toBe(true);
  });

  it('is asked again when the server refuses its token, once for all who wait', async () => {
    let valid = 'one';
    let asked = 0;
    await using server = await startGuarded((token) => token === `Bearer ${valid}`);
    const corp = {
      token: async () => {
        asked += 1;
        return valid;
      },
    };
    await using t = await startBridge(
      { s: { url: server.url, auth: { profile: 'corp' } } },
      { authProfiles: { corp } },
    );
    await t.bridge.ready();
    valid = 'two';
    expect(await Promise.all([1, 2, 3].map(() => t.text('s', 'echo')))).toEqual(['done', 'done', 'done']);
    expect(asked).toBe(2);
  });

  it('hides its server while it gives no token, and shows it again when it does', async () => {
    let token: string | undefined;
    await using server = await startGuarded((given) => given === 'Bearer fresh');
    const corp = {
      token: async () => {
        if (token === undefined) throw new Error('the vault is sealed');
        return token;
      },
    };
    await using t = await startBridge(
      { s: { url: server.url, auth: { profile: 'corp' } } },
      { authProfiles: { corp }, settings: { connectRetryCount: 0 } },
    );
    await t.bridge.ready();
    expect(t.bridge.server('s')).toMatchObject({
      state: 'unreachable',
      lastError: expect.stringContaining('Auth profile "corp" gave no token: the vault is sealed') as unknown,
    });
    expect(t.indexed.flatMap(({ servers }) => servers)).toEqual([]);
    token = 'fresh';
    await t.bridge.refresh('s');
    await t.untilIndexed(({ servers }) => servers.some(({ serverName }) => serverName === 's'));
    token = undefined;
    await t.bridge.refresh('s').catch(() => undefined);
  });

  it('reads a file or a variable, and says what is missing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gantry-profile-'));
    const file = join(folder, 'token');
    await writeFile(file, ' from-file\n');
    expect(await toAuthProfile({ file }, {}).token()).toBe('from-file');
    expect(await toAuthProfile({ env: 'TOKEN' }, { TOKEN: 'from-env' }).token()).toBe('from-env');
    await expect(toAuthProfile({ env: 'TOKEN' }, {}).token()).rejects.toThrow('TOKEN is not set');
    await writeFile(file, '');
    await expect(toAuthProfile({ file }, {}).token()).rejects.toThrow('is empty');
    await rm(folder, { recursive: true });
  });
});

describe('the sentence on a server', () => {
  const writing = (sentences: (string | Error)[]): ModelPort & { readonly prompts: string[] } => {
    const prompts: string[] = [];
    return {
      prompts,
      complete: async ({ prompt }) => {
        prompts.push(prompt);
        const next = sentences.shift() ?? 'again';
        if (next instanceof Error) throw next;
        return next;
      },
    };
  };

  it('is written by a model after the server was announced, and kept while the server stays as it is', async () => {
    await using server = await startRawServer();
    const model = writing(['Echoes\ntexts.']);
    await using t = await startBridge({ s: { url: server.url } }, { model });
    await t.untilIndexed(({ servers }) => servers[0]?.summary === 'Echoes texts.');
    expect(t.indexed[0]?.servers[0]?.summary).toMatch(/^\d+ tool/);
    expect(model.prompts[0]).toContain('Tools (');
    await t.bridge.refresh('s');
    expect(t.indexed.at(-1)?.servers[0]?.summary).toBe('Echoes texts.');
    expect(model.prompts).toHaveLength(1);
  });

  it('names the first tools when the model fails, or is not to be asked', async () => {
    await using server = await startRawServer();
    await using failing = await startBridge({ s: { url: server.url } }, { model: writing([new Error('no money')]) });
    await failing.bridge.ready();
    expect(failing.indexed.at(-1)?.servers[0]?.summary).toMatch(/^\d+ tool/);
    const model = writing(['x']);
    await using off = await startBridge(
      { s: { url: server.url } },
      { model, settings: { generateLlmSummaries: false } },
    );
    await off.bridge.ready();
    expect(model.prompts).toEqual([]);
  });
});
