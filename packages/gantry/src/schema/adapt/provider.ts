/** The model providers whose schema rules differ; `openai-strict` is OpenAI with structured arguments. */
export type Provider = 'openai' | 'openai-strict' | 'anthropic' | 'gemini' | 'generic';
