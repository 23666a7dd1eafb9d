import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { startAskingServer } from './fixtures/asking-server.ts';
import type { BridgeCommand, BridgeLine } from './fixtures/bridge-process.ts';
import { startTaskServer } from './fixtures/task-server.ts';

const program = join(import.meta.dirname, 'fixtures/bridge-process.ts');
// The long form: GANTRY_KILL_RUNS=200.
const runs = Number(process.env['GANTRY_KILL_RUNS'] ?? 12);

const secret = 'kx-secret-of-the-caller';
const answer = 'kx-answer-of-the-user';

/** A bridge process and the lines it said. */
const startProcess = (folder: string, configPath: string) => {
  const child = spawn(process.execPath, [program, folder, configPath], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: BridgeLine[] = [];
  const listeners = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line) as BridgeLine);
    for (const listener of listeners) listener();
  });
  return {
    lines,
    tell: (command: BridgeCommand): void => void child.stdin.write(`${JSON.stringify(command)}\n`),
    until: (fits: () => boolean): Promise<void> =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!fits()) return;
          listeners.delete(check);
          resolve();
        };
        listeners.add(check);
        check();
      }),
    kill: async (): Promise<void> => {
      const gone = once(child, 'exit');
      // A child that is written to while it dies breaks the pipe.
      child.stdin.on('error', () => undefined);
      child.kill('SIGKILL');
      await gone;
    },
  };
};

it(
  `loses no question and no task, asks nothing twice and runs nothing twice, killed ${runs} times`,
  async () => {
    await using asking = await startAskingServer();
    await using lab = await startTaskServer();
    const folder = await mkdtemp(join(tmpdir(), 'gantry-kill-'));
    await using _cleanUp = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
    const configPath = join(folder, 'mcp.json');
    const data = await mkdtemp(join(folder, 'data-'));
    await writeFile(
      configPath,
      JSON.stringify({
        mcpServers: {
          asking: { id: 'a'.repeat(12), url: asking.url, elicitation: { mode: 'handback' } },
          lab: { id: 'b'.repeat(12), url: lab.url, tasks: true },
        },
      }),
    );
    /** Questions by id that the agent has heard of, with the call that asked. */
    const questions = new Map<string, string>();
    const answered = new Set<string>();
    const interrupted = new Set<string>();
    const tasks = new Set<string>();
    const delivered = new Set<string>();
    const trying = new Set<string>();
    let count = 0;

    const read = (lines: readonly BridgeLine[]): void => {
      for (const line of lines) {
        if (line.at === 'called' && line.id?.startsWith('q_')) questions.set(line.id, line.n);
        if (line.at === 'called' && line.id?.startsWith('t_')) tasks.add(line.id);
        if (line.at === 'answered') answered.add(line.id);
        if (line.at === 'late' && line.kind === 'interrupted') interrupted.add(line.id);
        if (line.at === 'late' && line.kind === 'task') delivered.add(line.id);
      }
    };

    for (let run = 0; run < runs; run += 1) {
      const bridge = startProcess(data, configPath);
      const readyLine = (): Extract<BridgeLine, { at: 'ready' }> | undefined =>
        bridge.lines.find((line) => line.at === 'ready');
      await bridge.until(() => readyLine() !== undefined);
      const ready = readyLine();
      if (!ready) throw new Error('the process is not ready');
      // A call that a crash interrupted may have been told of before.
      read(bridge.lines);
      // What had been announced is still there, unless its answer may have been on its way.
      for (const [id, n] of questions) {
        if (answered.has(id)) expect(ready.open).not.toContain(id);
        else if (!ready.open.includes(id)) expect(trying).toContain(id);
        else expect(asking.done).not.toContain(`named ${n}`);
      }
      for (const id of tasks) if (!delivered.has(id)) expect(ready.tasks).toContain(id);
      for (let more = 0; more < 4; more += 1)
        bridge.tell({
          do: 'call',
          n: `c${(count += 1)}`,
          server: 'asking',
          tool: 'name',
          args: { call: `c${count}`, apiKey: secret },
        });
      bridge.tell({
        do: 'call',
        n: `c${(count += 1)}`,
        server: 'lab',
        tool: 'research',
        args: { topic: 'bees', apiKey: secret },
      });
      for (const id of ready.open.slice(0, 4)) {
        trying.add(id);
        bridge.tell({ do: 'answer', n: `a${(count += 1)}`, id, answers: { nickname: answer } });
      }
      const stopAt = 1 + Math.floor(Math.random() * 10);
      await bridge.until(() => bridge.lines.length >= Math.min(stopAt, 6 + Math.min(4, ready.open.length)));
      await bridge.kill();
      read(bridge.lines);
    }

    const last = startProcess(data, configPath);
    for (const [index] of lab.tasks.entries()) lab.complete(index, 'finished');
    await last.until(() => {
      read(last.lines);
      return [...tasks].every((id) => delivered.has(id)) && last.lines.some(({ at }) => at === 'ready');
    });
    // A process may have died before it could say what it had done; then the ledger says it.
    const unheard = [...trying].filter((id) => !answered.has(id) && !interrupted.has(id));
    const heard = (id: string): BridgeLine | undefined =>
      last.lines.find((line) => (line.at === 'answered' || line.at === 'refused') && line.id === id);
    for (const id of unheard) last.tell({ do: 'answer', n: `l${id}`, id, answers: { nickname: answer } });
    await last.until(() => unheard.every((id) => heard(id) !== undefined));
    for (const id of unheard) {
      const line = heard(id);
      if (line?.at === 'refused') expect(line.text).toMatch(/already answered|interrupted by a restart/);
    }
    read(last.lines);
    await last.kill();

    // Every call that was named was named once, whatever happened to the process meanwhile.
    expect(new Set(asking.done).size).toBe(asking.done.length);
    for (const [id, n] of questions) if (answered.has(id)) expect(asking.done).toContain(`named ${n}`);
    // Each call was made once, and asked once.
    expect(new Set(asking.asked).size).toBe(asking.asked.length);
    for (const file of await readdir(data, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const bytes = await readFile(join(file.parentPath, file.name));
      expect(bytes.includes(secret)).toBe(false);
      expect(bytes.includes(answer)).toBe(false);
    }
  },
  60_000 + runs * 4_000,
);
