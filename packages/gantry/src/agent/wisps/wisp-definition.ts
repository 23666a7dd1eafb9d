import type { JsonObject } from '../../kernel/json.ts';

/** What a step does when its call fails. */
export type OnFailure = { readonly action: 'abort' } | { readonly action: 'skip_to'; readonly skipTo: string };

interface StepBase {
  readonly id: string;
  /** How long it may take. */
  readonly timeoutMs: number;
  /** Where its data comes from: id of an earlier step, key of working memory, or path of the shared folder. */
  readonly inputFrom?: string | undefined;
  /** File of the shared folder that its output is written to as well. */
  readonly outputTo?: string | undefined;
  readonly onFailure: OnFailure;
}

/** A step that makes one call. */
export interface DirectStep extends StepBase {
  readonly mode: 'direct';
  readonly gateway: 'mcp' | 'a2a' | 'script' | 'web';
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly language: string;
  readonly params: JsonObject;
  readonly agent?: string | undefined;
}

/** A step in which a small model works with a few tools. */
export interface LlmStep extends StepBase {
  readonly mode: 'llm';
  readonly prompt: string;
}

/** One step of a pipeline. */
export type WispStep = DirectStep | LlmStep;

/** A pipeline: steps that run one after another. */
export interface WispDefinition {
  readonly description: string;
  readonly steps: readonly WispStep[];
  /** Further tools of its LLM steps: names of tools, or of servers for all of theirs. */
  readonly tools: readonly string[];
  /** The first 16 hex digits of the SHA-256 of the definition as it was given, canonical. */
  readonly hash: string;
}
