/** Where pages are rendered; part of section `web` of the configuration. */
export interface RenderSettings {
  /** `auto`: in the render service if one is named, else in a browser of this machine if there is one. */
  readonly rendering: 'auto' | 'off';
  /** Address of a render service (`gantry serve --role browser`). */
  readonly renderServiceUrl?: string | undefined;
  /** What the render service asks for. */
  readonly renderServiceToken?: string | undefined;
  readonly renderTimeoutSeconds: number;
  /** Path of Chromium; default the one that `PATH` leads to. */
  readonly browserPath?: string | undefined;
}
