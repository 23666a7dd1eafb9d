/** Gantry's tools for a model: the adapter to the AI SDK. */
export { toAiSdkTools } from './agent/ai-sdk-tools.ts';
export type { ToolCaller } from './agent/ai-sdk-tools.ts';
