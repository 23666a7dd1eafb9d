/** `npm run bench [-- NAME…]`: every measurement of the product in one run; ratios are what counts. */
import { benchAgent } from './agent.ts';
import { benchContextCost } from './context-cost.ts';
import { benchGatewayCalls } from './gateway-calls.ts';
import { benchGatewayPolicy } from './gateway-policy.ts';
import { benchInvoke } from './invoke.ts';
import { benchSchedule } from './schedule.ts';
import { benchScriptRunners } from './script-runners.ts';
import { benchLoad } from './load.ts';
import { benchOpenQuestions } from './open-questions.ts';
import { benchPeers } from './peers.ts';
import { benchReader } from './reader.ts';
import { benchStartUp } from './start-up.ts';
import { benchStores } from './stores.ts';

const benches: Readonly<Record<string, { readonly title: string; readonly run: () => Promise<string[]> }>> = {
  invoke: { title: 'invoke of a no-op tool', run: benchInvoke },
  gateway: { title: 'A call through the gateway', run: benchGatewayCalls },
  policy: { title: 'What policy costs, and a long list', run: benchGatewayPolicy },
  peers: { title: 'Gantry beside other gateways', run: benchPeers },
  context: { title: 'What the tools of servers cost in context', run: benchContextCost },
  agent: { title: 'The agent with weak and strong models', run: benchAgent },
  scripts: { title: 'Script runners', run: benchScriptRunners },
  schedule: { title: 'The schedule', run: benchSchedule },
  load: { title: 'Load, with servers that fail', run: benchLoad },
  questions: { title: 'Open questions', run: benchOpenQuestions },
  stores: { title: 'The two stores', run: benchStores },
  reader: { title: 'Reading pages', run: benchReader },
  start: { title: 'Start-up and memory', run: benchStartUp },
};

const wanted = process.argv.slice(2);
for (const name of wanted)
  if (!benches[name]) {
    console.error(`There is no measurement "${name}"; choose from ${Object.keys(benches).join(', ')}.`);
    process.exit(2);
  }

for (const [name, { title, run }] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n## ${title}\n`);
  for (const line of await run()) console.log(line);
}
