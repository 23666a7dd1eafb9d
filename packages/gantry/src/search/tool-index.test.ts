import { describe, expect, it } from 'vitest';
import type { ToolEntry } from './tool-fields.ts';
import { createToolIndex } from './tool-index.ts';

const tool = (name: string, description = '', rest: Partial<ToolEntry> = {}): ToolEntry => ({
  id: rest.id ?? `${rest.server ?? 'server'}/${name}`,
  server: 'server',
  name,
  typedName: `${rest.server ?? 'server'}__${name}`,
  description,
  inputSchema: { type: 'object' },
  kind: 'tool',
  ...rest,
});

const open = (...entries: ToolEntry[]) => {
  const index = createToolIndex();
  index.upsert(entries);
  const find = (query: string, limit = 10) => index.search(query, limit).map(({ entry }) => entry.name);
  return { index, find };
};

const mailAndMore = [
  tool('send_email', 'Sends mail.'),
  tool('list_labels', 'Lists the labels of a mailbox.'),
  tool('getForecast', 'Weather of the next days.', {
    inputSchema: { type: 'object', properties: { city: { type: 'string', description: 'Town to look at' } } },
  }),
  tool('convert', 'Converts one unit to another.', {
    inputSchema: { type: 'object', properties: { unit: { enum: ['furlong', 'fathom'] } } },
  }),
  tool('delete_file', 'Removes a file.'),
  tool('tapemixer', 'Joins recordings.'),
];

describe('createToolIndex', () => {
  it.each([
    ['the name', 'send_email', 'send_email'],
    ['the name in other case', 'SEND_EMAIL', 'send_email'],
    ['the typed name', ' server__convert ', 'convert'],
    ['words of the name', 'send email', 'send_email'],
    ['words of a camelCase name', 'forecast', 'getForecast'],
    ['another form of a word', 'converting units', 'convert'],
    ['a word of the description', 'mailbox', 'list_labels'],
    ['a parameter', 'city', 'getForecast'],
    ['a parameter text', 'town', 'getForecast'],
    ['a parameter value', 'fathoms', 'convert'],
    ['a synonym', 'erase document', 'delete_file'],
    ['a word that names the subject', 'will it rain', 'getForecast'],
    ['part of a name that runs together', 'tape', 'tapemixer'],
    ['Spanish', 'el tiempo', 'getForecast'],
    ['Chinese', '明天天气怎么样', 'getForecast'],
    ['Russian', 'погода', 'getForecast'],
  ])('finds a tool by %s', (_, query, name) => {
    expect(open(...mailAndMore).find(query)[0]).toBe(name);
  });

  it('finds a name that is a stop word in another language, when nothing else is met', () => {
    const { find } = open(tool('pour'), tool('cut'));
    expect(find('pour wine')).toEqual(['pour']);
    expect(find('pour')).toEqual(['pour']);
  });

  it.each([
    ['roots of an equation with a=1, b=2 and c=3', 'roots_of_numbers'],
    ['roots of an equation "the square is four"', 'roots_of_text'],
  ])('prefers, of two that do the same, the one whose arguments the request fills: %s', (query, name) => {
    const takes = (type: string, ...names: string[]): unknown => ({
      type: 'object',
      properties: Object.fromEntries(names.map((one) => [one, { type }])),
      required: names,
    });
    const { find } = open(
      tool('roots_of_text', 'Roots of an equation.', { inputSchema: takes('string', 'p') }),
      tool('roots_of_numbers', 'Roots of an equation.', { inputSchema: takes('number', 'x', 'y', 'z') }),
    );
    expect(find(query)[0]).toBe(name);
  });

  it('prefers a tool whose first words the query says to one that mentions them among others', () => {
    const { find } = open(
      tool('a_first', 'Parcel, order, return and refund desk; also tracks.'),
      tool('b_second', 'Tracks a parcel.'),
      ...mailAndMore,
    );
    expect(find('track parcel')[0]).toBe('b_second');
  });

  it('meets units by their short and long names', () => {
    const { find } = open(tool('to_miles', 'From kilometers.'), tool('to_pounds', 'From kilograms.'));
    expect(find('12 km')[0]).toBe('to_miles');
    expect(find('80 kg')[0]).toBe('to_pounds');
  });

  it('puts an exact name above everything that fits better', () => {
    const { find } = open(
      tool('mail', 'Old.'),
      tool('mail_mail', 'mail mail mail', { title: 'Mail' }),
      tool('send_mail', 'Sends mail by mail.'),
    );
    expect(find('Mail')[0]).toBe('mail');
  });

  it('finds a name that is all stop words', () => {
    const { find } = open(tool('what_is_it'), tool('other', 'It is what it is.'));
    expect(find('what_is_it')).toEqual(['what_is_it']);
    expect(find('what is')).toEqual(['what_is_it']);
  });

  it('prefers the name to the description', () => {
    const { find } = open(tool('other', 'Can also translate text.'), tool('translate', 'Handles text in other ways.'));
    expect(find('translate')).toEqual(['translate', 'other']);
  });

  it('prefers entries that meet more of the query', () => {
    const { find } = open(tool('create_issue'), tool('create_branch'), tool('close_issue'), tool('close_branch'));
    expect(find('close an issue')[0]).toBe('close_issue');
  });

  it('finds by what the server says of itself', () => {
    const { find } = open(tool('run', 'Does it.', { serverText: 'Payroll of the company' }), tool('walk', 'Does it.'));
    expect(find('payroll')).toEqual(['run']);
  });

  it('orders equal scores by typed name', () => {
    const { find } = open(tool('same', 'x', { server: 'b' }), tool('same', 'x', { server: 'a' }));
    const { index } = open(tool('same', 'x', { server: 'b' }), tool('same', 'x', { server: 'a' }));
    expect(index.search('x', 5).map(({ entry }) => entry.server)).toEqual(['a', 'b']);
    expect(find('x')).toHaveLength(2);
  });

  it.each(['', '   ', '!?', 'zzzzqqqq'])('gives nothing for %j', (query) => {
    expect(open(...mailAndMore).find(query)).toEqual([]);
  });

  it('gives at most the limit, best first', () => {
    const { index } = open(...Array.from({ length: 80 }, (_, count) => tool(`note_${count}`, 'Reads a note.')));
    const matches = index.search('note 7', 3);
    expect(matches.map(({ entry }) => entry.name)[0]).toBe('note_7');
    expect(matches).toHaveLength(3);
    expect(matches[0]!.score).toBeGreaterThan(matches[1]!.score);
  });

  it('ranks only what the caller may see', () => {
    const { index } = open(tool('read', '', { server: 'a' }), tool('read', '', { server: 'b', kind: 'prompt' }));
    const matches = index.search('read', 5, { where: (entry) => entry.kind === 'prompt' });
    expect(matches.map(({ entry }) => entry.server)).toEqual(['b']);
  });

  it('replaces and removes entries as if they had never been there', () => {
    const { index } = open(...mailAndMore);
    index.upsert([tool('send_email', 'Posts a parcel.'), tool('extra', 'Weather and mail.')]);
    index.remove(['server/extra', 'server/convert', 'server/unknown']);
    const fresh = open(
      ...mailAndMore.filter(({ name }) => name !== 'convert' && name !== 'send_email'),
      tool('send_email', 'Posts a parcel.'),
    );
    for (const query of ['mail', 'parcel', 'convert', 'weather', 'email', 'town', 'server__convert'])
      expect(index.search(query, 10)).toEqual(fresh.index.search(query, 10));
  });

  it('reads schemas that refer to themselves or are no schemas', () => {
    const loop: Record<string, unknown> = { type: 'object' };
    loop['properties'] = { child: loop, 'odd one': null };
    const { find } = open(tool('tree', '', { inputSchema: loop }), tool('flat', '', { inputSchema: 'nonsense' }));
    expect(find('child')).toEqual(['tree']);
  });
});
