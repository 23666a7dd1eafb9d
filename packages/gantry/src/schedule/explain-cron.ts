import { flattenText } from '../text/flatten.ts';

const fields = [
  { name: 'second', allowed: '0-59' },
  { name: 'minute', allowed: '0-59' },
  { name: 'hour', allowed: '0-23' },
  { name: 'day of month', allowed: '1-31, or L for the last day' },
  { name: 'month', allowed: '1-12 or JAN-DEC' },
  { name: 'day of week', allowed: '0-7 or SUN-SAT, where 0 and 7 are Sunday' },
] as const;

const forms =
  'Write 5 fields "minute hour day-of-month month day-of-week" (for example "0 9 * * 1-5"), or 6 fields with the second first (for example "0 0 9 * * 1-5").';

/** Says what is wrong with a cron line that cannot be read, which field it is, and how to write it. */
export const explainCron = (line: string, isReadable: (line: string) => boolean): string => {
  const shown = `Cron expression "${flattenText(line, { maxChars: 100 })}"`;
  if (line === '') return `The cron expression is empty. ${forms}`;
  if (line.startsWith('@')) return `${shown}: aliases such as "@daily" are not supported. ${forms}`;
  const parts = line.split(' ');
  if (parts.length !== 5 && parts.length !== 6) {
    const extra = parts.length === 7 ? '; a field for years is not supported, nor are comments' : '';
    return `${shown} has ${parts.length} ${parts.length === 1 ? 'field' : 'fields'}${extra}. ${forms}`;
  }
  const expected = fields.slice(6 - parts.length);
  for (const [index, field] of expected.entries()) {
    const part = parts[index] as string;
    const alone = expected.map((_, other) => (other === index ? part : '*')).join(' ');
    if (isReadable(alone)) continue;
    return `${shown}: the ${field.name} "${flattenText(part, { maxChars: 40 })}" is not valid (${field.allowed}${hintFor(part, field.name, parts.length)}). ${forms}`;
  }
  return `${shown} cannot be read. ${forms}`;
};

const hintFor = (part: string, field: string, count: number): string => {
  if (count === 6 && field === 'month' && /[a-z]{3}/i.test(part)) return '; six fields begin with the second';
  if (/^\d+\/\d+$/.test(part)) return '; a step needs "*" or a range before it, such as "*/15" or "5-59/15"';
  const range = /^(\d+)-(\d+)$/.exec(part);
  if (range && Number(range[1]) > Number(range[2])) return '; a range must rise, so write one that wraps as two';
  return '';
};

/** What about a readable line may surprise its author, a sentence each. */
export const cronNotes = (line: string): string[] => {
  const parts = line.split(' ');
  const [dayOfMonth = '*', month = '*', dayOfWeek = '*'] = parts.slice(-3);
  const notes: string[] = [];
  if (isRestricted(dayOfMonth) && isRestricted(dayOfWeek))
    notes.push(
      'Both day fields are set, so it runs when either the day of month or the day of week matches; use "*" in one of them to go by the other alone.',
    );
  const rare = dayOfMonth.split(',').filter((day) => /^(29|30|31)$/.test(day));
  if (rare.length > 0 && !isRestricted(month))
    notes.push(`Months without day ${rare.join(' or ')} have no run on it; "L" means the last day of every month.`);
  return notes;
};

const isRestricted = (field: string): boolean => field !== '*' && field !== '?';
