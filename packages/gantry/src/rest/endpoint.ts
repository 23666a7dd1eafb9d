import type { Json } from '../kernel/json.ts';
import type { JsonSchema } from '../tool/registration.ts';

/** Methods that an endpoint can have. */
export type RestMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Who asks: secrets are named by the environment variable that holds them, and read when they are needed. */
export type RestAuth =
  | { readonly type: 'bearer'; readonly env: string }
  | { readonly type: 'basic'; readonly usernameEnv: string; readonly passwordEnv: string }
  | { readonly type: 'header'; readonly name: string; readonly env: string };

/**
 * An HTTP endpoint that is a tool. `{name}` in a template stands for the argument of that name, `${NAME}` for an environment variable.
 */
export interface RestEndpoint {
  /** What the tool does, for the model that chooses it. */
  readonly description: string;
  /** Default GET. */
  readonly method?: RestMethod | undefined;
  /** Template. Arguments stand in path and query, where they are encoded; scheme, host and port are fixed. */
  readonly url: string;
  /** Templates by parameter of the query. One whose argument is not given is left out; a list is repeated. */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Templates by header. One whose argument is not given is left out. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly auth?: RestAuth | undefined;
  /** JSON Schema of the arguments. Default: the arguments that templates name, all required texts. */
  readonly parameters?: JsonSchema | undefined;
  /**
   * Template of the body: a text, or JSON in which a text of one `{name}` becomes the argument with its type. Default for POST, PUT and
   * PATCH: all arguments that no other template names, as an object.
   */
  readonly body?: Json | undefined;
  /** How a body that is no text is written; default json. */
  readonly bodyType?: 'json' | 'form' | undefined;
  /** Lets the address be a private one. Cloud metadata and Gantry's own listeners stay closed. Default false. */
  readonly private?: boolean | undefined;
  /** The whole call; default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Most that is read of an answer, after decompression; default 1 MB. */
  readonly maxBytes?: number | undefined;
}
