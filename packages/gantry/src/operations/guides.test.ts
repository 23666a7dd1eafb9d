import { expect, it } from 'vitest';
import { makeOperationDeps } from '../testing/make-operation-deps.ts';
import { guidesList, guidesShow } from './guides.ts';

const deps = makeOperationDeps();
deps.guides.add({ name: 'web', summary: 'The web.', getDocument: () => '# Web' });
deps.guides.add({ name: 'memory', summary: 'Notes.', getDocument: () => '# Memory' });

it('lists guides by name', async () => {
  expect(await guidesList.handler({}, deps, {})).toEqual({
    guides: [
      { name: 'memory', summary: 'Notes.' },
      { name: 'web', summary: 'The web.' },
    ],
  });
});

it('shows a guide, whatever the case of its name', async () => {
  expect(await guidesShow.handler({ name: 'WEB' }, deps, {})).toEqual({
    name: 'web',
    summary: 'The web.',
    document: '# Web',
  });
});

it.each([
  ['memroy', 'did you mean "memory"?'],
  ['qqqqqq', 'known: memory, web.'],
])('refuses "%s"', (name, hint) => {
  expect(() => guidesShow.handler({ name }, deps, {})).toThrow(
    expect.objectContaining({ code: 'guide_unknown', message: expect.stringContaining(hint) }),
  );
});
