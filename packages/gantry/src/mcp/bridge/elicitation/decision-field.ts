import type { FormField } from './form-field.ts';

/**
 * True for a checkpoint that a server has put there for a person: a boolean, or a choice between words such as yes and no only. No model
 * decides one. A choice that offers anything else as well is data.
 */
export const isDecision = (field: FormField): boolean => {
  if (field.type === 'boolean') return true;
  const { options = [] } = field;
  return (
    options.length > 0 && options.every(({ value, title }) => isDecisionWord(value) || isDecisionWord(title ?? ''))
  );
};

const isDecisionWord = (text: string): boolean => decisionWords.has(text.trim().toLowerCase());

const decisionWords: ReadonlySet<string> = new Set(
  (
    'yes no y n true false ok okay confirm confirmed cancel cancelled canceled approve approved deny denied reject rejected ' +
    'accept accepted decline declined allow disallow proceed continue abort stop skip'
  ).split(' '),
);
