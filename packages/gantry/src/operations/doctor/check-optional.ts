import type { DoctorCheck } from './doctor-report.ts';

/** Where the configuration comes from; it could be read. */
export const checkConfiguration = (file: string | undefined): DoctorCheck => ({
  name: 'configuration',
  state: 'ok',
  message: file ?? 'no file, all defaults',
});

/** Whether pages can be rendered here; without a browser they are read as they are sent. */
export const checkBrowser = (path: string | undefined): DoctorCheck => ({
  name: 'browser',
  state: 'ok',
  message: path ?? 'none found; pages that need one to be read are read as they are sent',
});
