import { GantryError } from '../kernel/errors.ts';
import type { CallContext } from './context.ts';

/** A usage document of a tool family, written for a model. */
export interface ToolGuide {
  readonly name: string;
  /** One line. */
  readonly summary: string;
  /**
   * The Markdown, made at call time so that it tells what is configured now, as far as the caller may know of it and has it. Without
   * one it is for the operator.
   */
  getDocument(context?: CallContext): string;
}

/** The guides of a process, by name; case does not matter. */
export interface GuideShelf {
  /**
   * Adds a guide.
   * @throws {GantryError} `invalid_registration` when one of that name, ignoring case, is there.
   */
  add(guide: ToolGuide): void;
  /** Sorted by name. */
  list(): readonly ToolGuide[];
  find(name: string): ToolGuide | undefined;
}

/** Makes an empty shelf. */
export const createGuideShelf = (): GuideShelf => {
  const guides = new Map<string, ToolGuide>();
  return {
    add: (guide) => {
      const key = guide.name.toLowerCase();
      if (guides.has(key))
        throw new GantryError(
          'invalid_registration',
          `Two tool guides are named "${guide.name}" (case does not count); give one of them another name.`,
          { details: { name: guide.name, problem: 'duplicate guide' } },
        );
      guides.set(key, guide);
    },
    list: () => [...guides.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    find: (name) => guides.get(name.trim().toLowerCase()),
  };
};
