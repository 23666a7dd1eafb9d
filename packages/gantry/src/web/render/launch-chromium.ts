import type * as Playwright from 'playwright-core';
import { GantryError, messageOf } from '../../kernel/errors.ts';

/** Starts a browser. */
export type LaunchBrowser = () => Promise<Playwright.Browser>;

/** How Chromium is started. */
export interface LaunchOptions {
  readonly executablePath: string;
  /** Memory of the scripts of one page, megabytes. */
  readonly scriptMemoryMb: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const passedOn = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'FONTCONFIG_PATH', 'FONTCONFIG_FILE'];

/**
 * Makes a launcher of headless Chromium that can reach nothing by itself: it resolves no names, its own proxy leads nowhere, and UDP is
 * off. A context reaches what the proxy that it is given reaches. Chromium sees none of this process's secrets in its environment.
 *
 * @throws {GantryError} (from the launcher) `package_missing` without playwright-core; `execution_failed` when Chromium does not start.
 */
export const chromiumLauncher =
  ({ executablePath, scriptMemoryMb, env }: LaunchOptions): LaunchBrowser =>
  async () => {
    const { chromium } = await loadPlaywright();
    try {
      return await chromium.launch({
        executablePath,
        headless: true,
        // The sandbox of Chromium needs user namespaces, which it refuses to use as root.
        chromiumSandbox: process.getuid?.() !== 0,
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
        env: Object.fromEntries(passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
        args: [
          '--proxy-server=http://127.0.0.1:9',
          // Chromium goes past a proxy for loopback unless it is told not to.
          '--proxy-bypass-list=<-loopback>',
          '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
          // The switch has two names, by version.
          '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
          '--webrtc-ip-handling-policy=disable_non_proxied_udp',
          '--disable-quic',
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-domain-reliability',
          '--disable-sync',
          '--disable-gpu',
          '--no-first-run',
          '--no-pings',
          '--deny-permission-prompts',
          `--js-flags=--max-old-space-size=${scriptMemoryMb}`,
        ],
      });
    } catch (error) {
      const [line] = messageOf(error).split('\n');
      throw new GantryError('execution_failed', `Chromium (${executablePath}) does not start: ${line}.`, {
        retry: 'later',
        cause: error,
      });
    }
  };

const loadPlaywright = async (): Promise<typeof Playwright> => {
  try {
    return await import('playwright-core');
  } catch (error) {
    throw new GantryError(
      'package_missing',
      'Rendering pages needs playwright-core; run "npm install playwright-core".',
      {
        details: { package: 'playwright-core', install: 'npm install playwright-core' },
        cause: error,
      },
    );
  }
};

/** True when the package that drives the browser is installed. */
export const hasPlaywright = (): boolean => {
  try {
    import.meta.resolve('playwright-core');
    return true;
  } catch {
    return false;
  }
};
