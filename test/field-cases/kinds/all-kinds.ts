import type { Handler } from '../lib/verdict.ts';
import { args } from './args.ts';
import { elicitation } from './elicitation.ts';
import { fetchBig } from './fetch-big.ts';
import { fetchBytes } from './fetch-bytes.ts';
import { htmlToMarkdown } from './html-to-markdown.ts';
import { searchAnswer } from './search-answer.ts';
import { ssrfRedirect, ssrfUrl } from './ssrf.ts';
import { handshake } from './handshake.ts';
import { history } from './history.ts';
import { httpProbe } from './http-probe.ts';
import { httpTranscript } from './http-transcript.ts';
import { largeResult } from './large-result.ts';
import { lazyTools } from './lazy-tools.ts';
import { registerTools } from './register-tools.ts';
import { cronNext } from './schedule/cron-next.ts';
import { scheduleCreate } from './schedule/schedule-create.ts';
import { scheduleRestart } from './schedule/schedule-restart.ts';
import { scheduleRun } from './schedule/schedule-run.ts';
import { scriptRun } from './script-run.ts';
import { sendTools } from './send-tools.ts';
import { startServers } from './start-servers.ts';
import { stdioProcess } from './stdio-process.ts';
import { stdioTranscript } from './stdio-transcript.ts';
import { timedTranscript } from './timed-transcript.ts';
import { toolCall } from './tool-call.ts';
import { toolResult } from './tool-result.ts';
import { toolsPayload } from './tools-payload.ts';
import { truncate } from './truncate.ts';

/** What runs the cases of each kind that the product covers. */
export const allKinds: Readonly<Record<string, Handler>> = {
  args,
  elicitation,
  'fetch-big': fetchBig,
  'fetch-bytes': fetchBytes,
  'html-to-markdown': htmlToMarkdown,
  'search-answer': searchAnswer,
  'ssrf-redirect': ssrfRedirect,
  'ssrf-url': ssrfUrl,
  handshake,
  history,
  'http-probe': httpProbe,
  'http-transcript': httpTranscript,
  'large-result': largeResult,
  'lazy-tools': lazyTools,
  'register-tools': registerTools,
  'cron-next': cronNext,
  'schedule-create': scheduleCreate,
  'schedule-restart': scheduleRestart,
  'schedule-run': scheduleRun,
  'script-run': scriptRun,
  'send-tools': sendTools,
  'start-servers': startServers,
  'stdio-process': stdioProcess,
  'stdio-transcript': stdioTranscript,
  'timed-transcript': timedTranscript,
  'tool-call': toolCall,
  'tool-result': toolResult,
  'tools-payload': toolsPayload,
  truncate,
};
