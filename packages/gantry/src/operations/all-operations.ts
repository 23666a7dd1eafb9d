import { configPrint } from './config-print.ts';
import { doctor } from './doctor/doctor.ts';
import { executionsList } from './executions.ts';
import { guidesList, guidesShow } from './guides.ts';
import { memoryList, memoryShow } from './memory.ts';
import type { AnyOperation } from './operation.ts';
import { questionsAnswer, questionsDecline, questionsList } from './questions.ts';
import { scheduleAdd } from './schedule-add.ts';
import { scheduleCancel, scheduleList, scheduleShow } from './schedule.ts';
import {
  serversAdd,
  serversDisable,
  serversEnable,
  serversLoginFinish,
  serversLoginStart,
  serversRemove,
} from './servers-edit.ts';
import { serversList, serversRefresh, serversShow } from './servers.ts';
import { tasksCancel, tasksList } from './tasks.ts';
import {
  sessionsEvents,
  sessionsForget,
  sessionsInterrupt,
  sessionsList,
  sessionsSend,
  sessionsShow,
} from './sessions.ts';
import { tokensCreate, tokensList, tokensRevoke } from './tokens.ts';
import { toolsCall } from './tools-call.ts';
import { toolsFind } from './tools-find.ts';
import { toolsList, toolsShow } from './tools.ts';

/** Everything a person can ask of Gantry. */
export const allOperations: readonly AnyOperation[] = [
  toolsList,
  toolsShow,
  toolsFind,
  toolsCall,
  executionsList,
  serversList,
  serversShow,
  serversRefresh,
  serversAdd,
  serversRemove,
  serversEnable,
  serversDisable,
  serversLoginStart,
  serversLoginFinish,
  questionsList,
  questionsAnswer,
  questionsDecline,
  tasksList,
  tasksCancel,
  tokensCreate,
  tokensList,
  tokensRevoke,
  guidesList,
  guidesShow,
  scheduleList,
  scheduleShow,
  scheduleAdd,
  scheduleCancel,
  sessionsList,
  sessionsShow,
  sessionsSend,
  sessionsEvents,
  sessionsInterrupt,
  sessionsForget,
  memoryList,
  memoryShow,
  configPrint,
  doctor,
];
