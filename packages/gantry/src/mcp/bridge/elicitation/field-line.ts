import { flattenText } from '../../../text/flatten.ts';
import type { FormField } from './form-field.ts';
import { shownName } from './form-field.ts';

/** One line that tells a model what a field is and what may stand in it. */
export const fieldLine = (field: FormField): string => {
  const { name, title, description, required } = field;
  const about = [title, description].filter((text) => text !== undefined && text !== name);
  const facts = [kindOf(field), required ? 'required' : 'optional', ...limitsOf(field)].join(', ');
  return `- "${shownName(name)}" (${facts})${about.length > 0 ? `: ${flattenText(about.join('. '), { maxChars: 300 })}` : ''}`;
};

const kindOf = ({ type, format, options = [] }: FormField): string => {
  const shown = options.map(({ value, title }) =>
    title === undefined || title === value ? `"${shownName(value)}"` : `"${shownName(value)}" (${shownName(title)})`,
  );
  switch (type) {
    case 'choice':
      return `one of ${shown.join(', ')}`;
    case 'choices':
      return `list of any of ${shown.join(', ')}`;
    case 'string':
      return format ?? 'text';
    case 'number':
    case 'integer':
    case 'boolean':
      return type;
  }
};

const limitsOf = ({ minLength, maxLength, minimum, maximum, minItems, maxItems }: FormField): string[] => [
  ...bounds(minLength, maxLength, ' characters'),
  ...bounds(minimum, maximum, ''),
  ...bounds(minItems, maxItems, ' values'),
];

const bounds = (least: number | undefined, most: number | undefined, unit: string): string[] => [
  ...(least === undefined ? [] : [`at least ${least}${unit}`]),
  ...(most === undefined ? [] : [`at most ${most}${unit}`]),
];
