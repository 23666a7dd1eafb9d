import type { Json, JsonObject } from '../../kernel/json.ts';

/** What every shape may say beside its kind. */
export interface ShapeNotes {
  readonly description?: string | undefined;
  /** Null is a value here, by the schema's own word. */
  readonly nullable: boolean;
}

/** A member of an object. */
export interface ShapeMember {
  readonly key: string;
  readonly shape: Shape;
  readonly required: boolean;
}

/**
 * What a schema says, reduced to what providers can be told: no references, no combined schemas, one type per place. The printers for the
 * strict dialects need know nothing else.
 */
export type Shape = ShapeNotes &
  (
    | { readonly kind: 'any' }
    | {
        readonly kind: 'object';
        readonly members: readonly ShapeMember[];
        /** Keys of the caller's own choice are meant to be sent. */
        readonly isOpen: boolean;
      }
    | { readonly kind: 'array'; readonly items: Shape; readonly limits: JsonObject }
    | {
        readonly kind: 'scalar';
        readonly type: 'string' | 'number' | 'integer' | 'boolean';
        readonly limits: JsonObject;
      }
    | { readonly kind: 'choice'; readonly values: readonly Json[] }
    | { readonly kind: 'union'; readonly branches: readonly Shape[] }
  );

/** Gives the server's form of a value that a model sent in the provider's form. */
export type Restore = (value: unknown) => unknown;

/** A shape in a provider's dialect. */
export interface Printed {
  readonly schema: Record<string, unknown>;
  /** Absent when what the model sends is what the server takes. */
  readonly restore?: Restore | undefined;
}
