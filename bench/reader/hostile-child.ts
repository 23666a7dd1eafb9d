/** `node hostile-child.ts NAME`: reads one hostile page as a gateway would, and prints what that took as JSON. */
import { systemClock } from '../../packages/gantry/src/kernel/clock.ts';
import { silentLog } from '../../packages/gantry/src/kernel/log.ts';
import { createPageConverter } from '../../packages/gantry/src/web/page-converter.ts';
import { memoryOf } from '../lib/process.ts';
import { hostilePages } from './hostile-pages.ts';

const makePage = hostilePages[process.argv[2] ?? ''];
if (!makePage) throw new Error(`There is no page "${process.argv[2]}".`);
const bytes = Buffer.from(makePage(), 'latin1');
await using converter = createPageConverter({ clock: systemClock, log: silentLog });
const startedMs = performance.now();
const { kind } = await converter.convert({
  bytes,
  kind: 'html',
  charset: 'utf-8',
  url: 'https://page.example/',
  mode: 'auto',
});
const ms = performance.now() - startedMs;
console.log(JSON.stringify({ ms, peakMb: memoryOf(process.pid).peakMb, isStructured: kind === 'page' }));
