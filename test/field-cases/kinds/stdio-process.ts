import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { differences, unmentioned, wrongContents } from '../lib/compare.ts';
import { asText } from '../lib/read-cases.ts';
import { wrongState } from '../lib/server-state.ts';
import { startServed } from '../lib/served-gantry.ts';
import type { Handler } from '../lib/verdict.ts';
import { refuseUnread } from '../lib/verdict.ts';

/** How a program is started → what it says on its standard error. */
export const stdioProcess: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['config', 'hostEnv']);
  refuseUnread(expect, 'the expectation', ['stderr', 'stderrContains', 'state', 'errorMentions']);
  const given = isObject(input['hostEnv']) ? input['hostEnv'] : {};
  const env = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value === '(usual)' ? process.env[name] : asText(value)]),
  );
  await using served = await startServed({ field: input['config'] }, { env, connectRetryCount: 0 });
  // The program is no server: it says its line and ends.
  await served.servers.ready();
  const lines = served.log.map(({ facts }) => facts['stderr']).filter((text) => typeof text === 'string');
  const stderr = lines.join('\n').trim();
  const status = served.status('field');
  return [
    ...('stderr' in expect ? differences('stderr', stderr, expect['stderr']) : []),
    ...wrongContents('stderr', stderr, { contains: expect['stderrContains'] }),
    ...('state' in expect ? wrongState(status, expect['state']) : []),
    ...unmentioned('error', status.lastError ?? '', expect['errorMentions']),
  ];
};
