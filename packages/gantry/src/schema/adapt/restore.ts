import { isObject } from '../../kernel/json.ts';
import type { Restore, Shape } from './shape.ts';

/** What has to be done with one key of an object that a model sent. */
export interface KeyRestore {
  readonly restore?: Restore | undefined;
  /** Null stands for "left out": the provider's dialect made the key required, the server did not. */
  readonly dropNull?: boolean | undefined;
}

/** Restores the members of an object; `undefined` when there is nothing to do for any of them. */
export const restoreMembers = (keys: ReadonlyMap<string, KeyRestore>): Restore | undefined => {
  if (keys.size === 0) return undefined;
  return (value) => {
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key, member]) => !(member === null && keys.get(key)?.dropNull))
        .map(([key, member]) => [key, keys.get(key)?.restore?.(member) ?? member]),
    );
  };
};

/** Restores every item of a list. */
export const restoreItems = (restore: Restore | undefined): Restore | undefined =>
  restore && ((value) => (Array.isArray(value) ? value.map(restore) : value));

/** Restores a value as the one branch that it can belong to; a value that may belong to several stays as it is. */
export const restoreBranch = (
  branches: readonly { readonly shape: Shape; readonly restore?: Restore | undefined }[],
): Restore | undefined => {
  if (branches.every((branch) => branch.restore === undefined)) return undefined;
  return (value) => {
    const possible = branches.filter((branch) => couldBe(value, branch.shape));
    return possible.length === 1 ? (possible[0]?.restore?.(value) ?? value) : value;
  };
};

const couldBe = (value: unknown, shape: Shape): boolean => {
  switch (shape.kind) {
    case 'any':
      return true;
    case 'object':
      return (
        isObject(value) &&
        shape.members.every((member) => {
          if (!Object.hasOwn(value, member.key)) return !member.required;
          return member.shape.kind !== 'choice' || couldBe(value[member.key], member.shape);
        })
      );
    case 'array':
      return Array.isArray(value);
    case 'scalar':
      return shape.type === 'integer' ? Number.isInteger(value) : typeof value === shape.type;
    case 'choice':
      return shape.values.some((one) => one === value || (typeof one !== 'string' && JSON.stringify(one) === value));
    case 'union':
      return shape.branches.some((branch) => couldBe(value, branch));
    default:
      return shape satisfies never;
  }
};
