import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { IsOwnListener } from '../../net/address/own-listeners.ts';
import type { NetPolicy } from '../../net/address/policy.ts';
import type { GuardedFetch, Network } from '../../net/guarded-client.ts';
import type { RenderPage } from '../read/render-page.ts';
import { findChromium } from './find-chromium.ts';
import { chromiumLauncher, hasPlaywright } from './launch-chromium.ts';
import { renderOverHttp } from './render-client.ts';
import type { RenderSettings } from './render-settings.ts';
import type { Renderer } from './renderer.ts';
import { createRenderer } from './renderer.ts';

/** What both ways of rendering need. */
export interface RenderingOptions {
  readonly policy: NetPolicy;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly isOwnListener?: IsOwnListener | undefined;
  readonly network?: Network | undefined;
}

const scriptMemoryMb = 512;

/** Makes a renderer with this machine's Chromium, which is started with the first page; undefined where there is no browser or no playwright-core. */
export const createLocalRenderer = (
  settings: Pick<RenderSettings, 'browserPath' | 'renderTimeoutSeconds'>,
  { env, network, ...options }: RenderingOptions,
): Renderer | undefined => {
  const executablePath = settings.browserPath ?? findChromium(env);
  if (executablePath === undefined || !hasPlaywright()) return undefined;
  const timeoutMs = settings.renderTimeoutSeconds * 1000;
  return createRenderer({
    ...options,
    ...network,
    launch: chromiumLauncher({ executablePath, scriptMemoryMb, env }),
    limits: { timeoutMs, maxTimeoutMs: Math.max(timeoutMs, 60_000) },
  });
};

/** Chooses how pages are rendered: `render` is absent where they cannot be. Disposing ends the browser. */
export const chooseRendering = (
  settings: RenderSettings,
  options: RenderingOptions & {
    /** Reaches the render service, whose address an operator named. */
    readonly fetch: GuardedFetch;
  },
): { readonly render?: RenderPage | undefined } & AsyncDisposable => {
  const { fetch, ...rest } = options;
  const { rendering, renderServiceUrl, renderServiceToken, renderTimeoutSeconds } = settings;
  const nothing = { [Symbol.asyncDispose]: async () => {} };
  if (rendering === 'off') return nothing;
  if (renderServiceUrl !== undefined) {
    const timeoutMs = renderTimeoutSeconds * 1000;
    return {
      ...nothing,
      render: renderOverHttp({ baseUrl: renderServiceUrl, fetch, timeoutMs, token: renderServiceToken }),
    };
  }
  const renderer = createLocalRenderer(settings, rest);
  if (!renderer) return nothing;
  return {
    render: (url, { signal }) => renderer.render(url, { signal }),
    [Symbol.asyncDispose]: () => renderer[Symbol.asyncDispose](),
  };
};
