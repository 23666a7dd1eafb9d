import { afterEach, describe, expect, it } from 'vitest';
import { createGantry } from '../packages/gantry/src/host/create-gantry.ts';
import type { Gantry } from '../packages/gantry/src/host/create-gantry.ts';
import type { LoopConfig } from '../packages/gantry/src/host/config/models-config.ts';
import type { AgentService } from '../packages/gantry/src/host/plugins/agent.ts';
import { agent, agentKey } from '../packages/gantry/src/host/plugins/agent.ts';
import { silentLog } from '../packages/gantry/src/kernel/log.ts';
import type { Tool } from '../packages/gantry/src/tool/executor.ts';
import { textOutcome } from '../packages/gantry/src/tool/outcome.ts';
import { toRegistration } from '../packages/gantry/src/tool/registration.ts';
import { isTurn } from './fixtures/agent-gateway.ts';
import { saidIn } from './fixtures/model-loop.ts';
import type { ModelRequest, ScriptedReply } from './fixtures/model-script.ts';
import type { ModelServer } from './fixtures/model-server.ts';
import { startModel } from './fixtures/model-server.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

interface Talk {
  readonly gantry: Gantry;
  readonly service: AgentService;
  readonly model: ModelServer;
  ask(text: string): Promise<string>;
}

/** An agent in this process whose one model follows a script, for turns and for what the tool layer asks by itself. */
const start = async (
  script: (request: ModelRequest) => ScriptedReply,
  loop: Partial<LoopConfig> = {},
): Promise<Talk> => {
  const model = open.use(await startModel(script));
  const balanced = { provider: 'openai-compatible', endpoint: model.endpoint, modelId: 'scripted' } as const;
  const gantry = open.use(
    await createGantry({ dataDir: ':memory:', log: silentLog })
      .use(agent({ models: { balanced }, loop, behaviors: { scripted: {} } }))
      .start(),
  );
  const service = gantry.service(agentKey);
  if (!service) throw new TypeError('there is no agent');
  return {
    gantry,
    service,
    model,
    ask: async (text) => (await service.sessions.send({ sessionId: 's1', text })).reply,
  };
};
const turns = ({ model }: Talk): readonly string[] => model.requests.filter(isTurn).map(saidIn);

describe('the context of a conversation', () => {
  it('begins with what the session is to begin with, once', async () => {
    const talk = await start(() => ({ text: 'Hello.' }), { sessionStart: 'Greet the user by the name Ada.' });
    await talk.ask('hi');
    await talk.ask('hi again');
    const [first, second] = turns(talk);
    expect(first).toContain('Greet the user by the name Ada.');
    expect(second).not.toContain('Greet the user');
  });

  it('has the day once, and the time with the newest message only', async () => {
    const talk = await start(() => ({ text: 'Hello.' }));
    await talk.ask('hi');
    await talk.ask('hi again');
    const last = turns(talk).at(-1) ?? '';
    expect(last.match(/Today is/g)).toHaveLength(1);
    expect(last.match(/Now: /g)).toHaveLength(1);
    expect(last.indexOf('hi"')).toBeLessThan(last.indexOf('Now: '));
  });

  it('brings the skills that a message is about along, each once, and the index of all', async () => {
    const talk = await start(() => ({ text: 'ok' }));
    await talk.service.skills.save('send-invoices', 'Attach the PDF first.\nSee also: mail-limits');
    await talk.service.skills.save('mail-limits', 'Up to 10 MB.');
    await talk.ask('please send the invoices');
    await talk.ask('and send the invoices of June');
    const [first = '', second = ''] = turns(talk);
    expect(first).toContain('Attach the PDF first.');
    expect(first).toContain('See also, with get_skill: mail-limits.');
    expect(first).not.toContain('Up to 10 MB.');
    expect(second).not.toContain('Attach the PDF first.');
    expect(second.match(/# Skills\\n/g)).toHaveLength(1);
  });

  it('keeps the sequence: prompt, day, index of skills; then the time, skills that fit, and the keys that are kept', async () => {
    const talk = await start(() => ({ text: 'ok' }));
    await talk.service.skills.save('send-invoices', 'Attach the PDF first.');
    await talk.gantry.memory.save('session/s1/plan', 'SECRET');
    await talk.ask('send the invoices');
    const [said = ''] = turns(talk);
    const places = [
      'You are a careful',
      'Today is',
      '# Skills\\n',
      'Now: ',
      '# Skills that fit',
      'Working memory',
      'send the invoices',
    ];
    const at = places.map((place) => said.indexOf(place));
    expect(at.every((place) => place >= 0)).toBe(true);
    expect(at).toEqual(at.toSorted((a, b) => a - b));
    expect(said).not.toContain('SECRET');
  });
});

describe('an agent that checks itself', () => {
  it('goes on when the low model finds its answer incomplete', async () => {
    let said = 0;
    const talk = await start(
      (request) =>
        isTurn(request) ? { text: ['Done.', 'All three are sent.'][said++] } : { text: 'INCOMPLETE: two are left' },
      { completionTries: 1 },
    );
    expect(await talk.ask('send the three letters')).toBe('All three are sent.');
    expect(turns(talk)[1]).toContain('two are left');
    expect(talk.model.requests.filter((request) => !isTurn(request))).toHaveLength(1);
  });

  it('answers all the same when the check fails', async () => {
    const talk = await start((request) => (isTurn(request) ? { text: 'Done.' } : { status: 400, message: 'no' }), {
      completionTries: 1,
    });
    expect(await talk.ask('send the three letters')).toBe('Done.');
  });
});

describe('what a user only tells', () => {
  const sent: unknown[] = [];
  const send: Tool = {
    registration: toRegistration({
      name: 'mail__send',
      description: 'Sends.',
      source: 'mcp:mail',
      target: { server: 'mail', tool: 'send' },
    }),
    executor: {
      execute: async () => {
        sent.push(true);
        return textOutcome('sent');
      },
    },
  };
  afterEach(() => sent.splice(0));
  const isSubagent = (request: ModelRequest): boolean => saidIn(request).includes('You are a subagent');
  const hasResult = (request: ModelRequest): boolean => saidIn(request).includes('tool_call_id');

  /** Hands the work to a subagent, which tries to send. Resolves with what the subagent's second request says. */
  const handOver = async (verdict: string): Promise<string> => {
    const tried = Promise.withResolvers<string>();
    const talk = await start(
      (request) => {
        if (!isTurn(request)) return { text: verdict };
        if (!isSubagent(request))
          return hasResult(request)
            ? { text: 'Noted.' }
            : { calls: [{ name: 'spawn_subagent', args: { description: 'Write to Anna.' } }] };
        if (!hasResult(request)) return { calls: [{ name: 'mail__send', args: {} }] };
        tried.resolve(saidIn(request));
        return { text: 'Finished.' };
      },
      { guardActions: true },
    );
    talk.gantry.tools.register(send.registration, send.executor);
    expect(await talk.ask('My flight was moved to Friday.')).toBe('Noted.');
    return tried.promise;
  };

  it('is written nowhere by the subagents of the turn either', async () => {
    expect(await handOver('SHARE')).toContain('Not run');
    expect(sent).toEqual([]);
  });

  it('is written by them when it was asked for', async () => {
    expect(await handOver('ACT')).toContain('sent');
    expect(sent).toEqual([true]);
  });
});
