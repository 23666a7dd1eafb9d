import { configPrint } from './config-print.ts';
import { doctor } from './doctor/doctor.ts';
import { guidesList, guidesShow } from './guides.ts';
import type { AnyOperation } from './operation.ts';
import { serversList, serversRefresh, serversShow } from './servers.ts';
import { toolsCall } from './tools-call.ts';
import { toolsList, toolsShow } from './tools.ts';

/** Everything a person can ask of Gantry. */
export const allOperations: readonly AnyOperation[] = [
  toolsList,
  toolsShow,
  toolsCall,
  serversList,
  serversShow,
  serversRefresh,
  guidesList,
  guidesShow,
  configPrint,
  doctor,
];
