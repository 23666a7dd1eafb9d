import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../kernel/log.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { FakeClock } from '../testing/fake-clock.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import { testKeyring } from '../testing/test-keyring.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import type { ServerNow } from './skill-freshness.ts';
import { skillTools } from './skill-tools.ts';
import type { Skills } from './skills.ts';
import { createSkills } from './skills.ts';

let clock: FakeClock;
let store: Store;
let skills: Skills;
let servers: ServerNow[];
let call: (name: string, args?: object) => Promise<string>;
let summarized: string[];

beforeEach(async () => {
  clock = fakeClock();
  servers = [{ serverName: 'github', serverId: 'id1', fingerprint: 'f1', version: '1', identityHash: 'h1' }];
  store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  skills = createSkills({ documents: store.documents('skills'), clock, servers: () => servers });
  summarized = [];
  const tools = skillTools(skills, { clock, summarize: ({ name }) => void summarized.push(name) });
  const invoker = makeInvoker(registryOf(...tools));
  call = async (name, args = {}) =>
    outcomeText(await invoker.invoke({ name, arguments: JSON.stringify(args) }, { caller: 'model' }));
});
afterEach(() => store[Symbol.asyncDispose]());

describe('skills', () => {
  it('are saved, listed, read and deleted by their tools', async () => {
    expect(await call('list_skills')).toBe('There are no skills yet.');
    expect(await call('save_skill', { name: 'Weekly Report', content: '# Steps' })).toContain(
      'Saved as "weekly-report"',
    );
    expect(await call('list_skills')).toContain('- weekly-report (new, never used): summary pending');
    expect(await call('get_skill', { name: 'WEEKLY-REPORT' })).toBe('# Steps');
    expect(await call('list_skills')).toContain('used today');
    expect(await call('delete_skill', { name: 'weekly-report' })).toContain('Deleted');
    expect(await call('get_skill', { name: 'weekly-reprt' })).toContain('There is no skill');
  });

  it('get their line behind the call, unless they were written anew meanwhile', async () => {
    await call('save_skill', { name: 'a', content: 'one' });
    expect(summarized).toEqual(['a']);
    await skills.save('a', 'two');
    await skills.summarize('a', 'one', 'about one');
    expect(await skills.read('a')).toMatchObject({ content: 'two', summary: '' });
    await skills.summarize('a', 'two', 'about two');
    expect(await skills.read('a')).toMatchObject({ summary: 'about two' });
  });

  it.each(['', '///', '!!', 'a/b/c/d/e'])('cannot be named %j', async (name) => {
    await expect(skills.save(name, 'x')).rejects.toMatchObject({ code: 'memory_refused' });
  });

  it('lead nowhere else, whatever their name', async () => {
    expect((await skills.save('../../etc/passwd', 'x').catch((error: unknown) => error)) as object).toMatchObject({
      code: 'memory_refused',
    });
  });

  it('are refused when they are blank or too long', async () => {
    expect(await call('save_skill', { name: 'a', content: '  ' })).toContain('blank');
    expect(await call('save_skill', { name: 'a', content: 'x'.repeat(64_001) })).toContain('64001 characters');
  });
});

describe('a skill about a server', () => {
  beforeEach(() => skills.save('mcp/github', 'how to'));
  const freshness = async (): Promise<object | undefined> => (await skills.read('mcp/github'))?.freshness;

  it('is fresh while the server is as it was', async () => {
    expect(await freshness()).toEqual({ state: 'fresh' });
    expect(await call('get_skill', { name: 'mcp/github' })).toBe('how to');
  });

  it('is marked when the server offers something else or has another version', async () => {
    servers = [{ ...(servers[0] as ServerNow), fingerprint: 'f2' }];
    expect(await freshness()).toMatchObject({ state: 'stale' });
    expect(await call('get_skill', { name: 'mcp/github' })).toMatch(/^\[may be out of date: .*\]\n\nhow to$/);
    servers = [{ ...(servers[0] as ServerNow), fingerprint: 'f1', version: '2' }];
    expect(await freshness()).toMatchObject({ state: 'stale' });
  });

  it('names the server that has another name now', async () => {
    servers = [{ ...(servers[0] as ServerNow), serverName: 'gh' }];
    expect(await freshness()).toEqual({ state: 'renamed', nowNamed: 'gh' });
    servers = [{ ...(servers[0] as ServerNow), serverId: 'id9', serverName: 'gh' }];
    expect(await freshness()).toEqual({ state: 'renamed', nowNamed: 'gh' });
  });

  it('is stale when its name stands for another server', async () => {
    servers = [{ ...(servers[0] as ServerNow), serverId: 'id2', identityHash: 'h2' }];
    expect(await freshness()).toMatchObject({ state: 'stale' });
  });

  it('is unknown while the server cannot be read, which never becomes a baseline', async () => {
    servers = [{ ...(servers[0] as ServerNow), fingerprint: null }];
    expect(await freshness()).toEqual({ state: 'unknown' });
    await skills.save('mcp/github', 'again');
    servers = [{ ...(servers[0] as ServerNow), fingerprint: 'f7' }];
    expect(await freshness()).toEqual({ state: 'unknown' });
  });
});
