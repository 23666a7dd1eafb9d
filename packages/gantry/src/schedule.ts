/** Scheduled tasks: the plugin, and the schedule it provides. */
export { schedule, schedulerKey } from './schedule/schedule.ts';
export type { ScheduleOptions } from './schedule/schedule.ts';
export type { Scheduler } from './schedule/scheduler.ts';
