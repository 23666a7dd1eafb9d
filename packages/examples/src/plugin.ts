/** A tool family as a plugin: options, tools, a guide, a service for other plugins, and an orderly stop. */
import assert from 'node:assert/strict';
// #region plugin
import type { Plugin, ServiceKey } from 'gantry';
import { createGantry, defineTool, failedOutcome, outcomeText } from 'gantry';
import * as z from 'zod';

/** What the plugin offers to other plugins. */
export interface Notes {
  all(): readonly string[];
}
/** The key they take it by. */
export const notesKey: ServiceKey<Notes> = { name: 'notes' };

/** Lets a model keep notes; `most` is how many. */
export const notes = ({ most = 100 }: { most?: number } = {}): Plugin => ({
  name: 'notes',
  setup: ({ tools, guides, log, provide, onStop }) => {
    const kept: string[] = [];
    const addNote = defineTool({
      name: 'add_note',
      description: 'Keeps a note.',
      source: 'notes',
      input: z.strictObject({ text: z.string().min(1) }),
      execute: ({ text }) => {
        if (kept.length >= most) return failedOutcome('execution_failed', `All ${most} notes are taken.`);
        kept.push(text);
        return `Note ${kept.length} is kept.`;
      },
    });
    tools.register(addNote.registration, addNote.executor);
    guides.add({
      name: 'notes',
      summary: 'Keeping notes.',
      getDocument: () => `# Notes\n\n${kept.length} of ${most} notes are taken. Add one with add_note.`,
    });
    provide(notesKey, { all: () => kept });
    onStop(() => log.info({ kept: kept.length }, 'the notes are closed'));
  },
});

/** Adds a tool over what the first plugin provides; it is set up after it, whatever the order of use(). */
export const noteCounter: Plugin = {
  name: 'note-counter',
  needs: ['notes'],
  setup: ({ tools, service }) => {
    const { all } = service(notesKey);
    const countNotes = defineTool({
      name: 'count_notes',
      description: 'Says how many notes there are.',
      source: 'notes',
      execute: () => `${all().length}`,
    });
    tools.register(countNotes.registration, countNotes.executor);
  },
};
// #endregion

// #region use
await using gantry = await createGantry({ dataDir: ':memory:' })
  .use(noteCounter, notes({ most: 2 }))
  .start();
await gantry.call('add_note', { text: 'water the plants' });
console.log(outcomeText(await gantry.call('count_notes'))); // 1
console.log(outcomeText(await gantry.call('get_tool_guide', { name: 'notes' })));
// #endregion

assert.equal(outcomeText(await gantry.call('count_notes')), '1');
await gantry.call('add_note', { text: 'feed the cat' });
const full = await gantry.call('add_note', { text: 'one too many' });
assert.equal(full.status === 'failed' && full.failure.message, 'All 2 notes are taken.');
