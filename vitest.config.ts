import type { ViteUserConfig } from 'vitest/config';

const resolve = { conditions: ['gantry-source'] };
const ssr = { resolve: { conditions: ['gantry-source'] } };

const config: ViteUserConfig = {
  test: {
    projects: [
      {
        resolve,
        ssr,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts'],
          // The unit suites share a thread and own no global state; isolation would cost forty times the run.
          pool: 'threads',
          isolate: false,
        },
      },
      {
        resolve,
        ssr,
        test: {
          name: 'e2e',
          include: ['test/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
};

export default config;
