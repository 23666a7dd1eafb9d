import { createHash } from 'node:crypto';
import { orAborted } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { KeyValue } from '../../../store/key-value.ts';
import type { EmbeddingModel } from '../../../tool/embedding-model.ts';

/** A vector as the store keeps it: its 32-bit numbers, lowest byte first, in base64. */
export type StoredVector = string;

/** Vectors of texts, from the store where a model has made them before. */
export interface StoredVectors {
  /**
   * One vector for each text, in order.
   * @throws what the model throws, or when it gives something else than one vector a text.
   */
  of(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
  /** Frees the space of vectors that nobody asked for in a long time. */
  sweep(): Promise<unknown>;
}

const keptMs = 90 * 24 * 3_600_000;
// Writing at every use would cost as much as making them; a third of the time is soon enough.
const renewedAfterMs = keptMs / 3;

/** Keeps the vectors of a model by the content of the text, so a text is sent to the model once, whatever is done to the catalog. */
export const createStoredVectors = (options: {
  readonly model: EmbeddingModel;
  readonly keyValue: KeyValue<StoredVector>;
  readonly clock: Clock;
}): StoredVectors => {
  const { model, keyValue, clock } = options;
  const keyOf = (text: string): string => createHash('sha256').update(`${model.id}\n${text}`).digest('hex');
  const keep = (text: string, vector: StoredVector): Promise<unknown> =>
    keyValue.set(keyOf(text), vector, { ttlMs: keptMs });
  return {
    of: async (texts, signal) => {
      const stored = await Promise.all(texts.map((text) => keyValue.get(keyOf(text))));
      const missing = texts.filter((_text, at) => stored[at] === undefined);
      const made = missing.length > 0 ? await orAborted(model.embed(missing, signal), signal) : [];
      if (made.length !== missing.length)
        throw new TypeError(`the embedding model gave ${made.length} vectors for ${missing.length} texts`);
      const fresh = new Map(missing.map((text, at) => [text, made[at] as Float32Array]));
      const vectors = texts.map((text, at) => fresh.get(text) ?? fromText(stored[at]?.value ?? ''));
      const renewed = texts.filter((_text, at) => clock.nowMs() - (stored[at]?.writtenAtMs ?? 0) > renewedAfterMs);
      await Promise.all(renewed.map((text) => keep(text, toText(vectors[texts.indexOf(text)] as Float32Array))));
      return vectors;
    },
    sweep: () => keyValue.sweep(),
  };
};

const toText = (vector: Float32Array): StoredVector => {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [at, part] of vector.entries()) bytes.writeFloatLE(part, at * 4);
  return bytes.toString('base64');
};

const fromText = (text: StoredVector): Float32Array => {
  const bytes = Buffer.from(text, 'base64');
  return Float32Array.from({ length: Math.floor(bytes.length / 4) }, (_, at) => bytes.readFloatLE(at * 4));
};
