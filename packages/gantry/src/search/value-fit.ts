import type { GivenValues } from './given-values.ts';
import type { WantedValues } from './wanted-values.ts';

// What a value that is missing, or that has no place to go, takes from a score. A request seldom says all: "the weather here" has no city.
const lacking = { numbers: 0.08, dates: 0.06, texts: 0.02 } as const;
const lackingMost = { numbers: 3, dates: 2, texts: 2 } as const;
const leftOver = 0.05;
const leftOverMost = 2;

/**
 * How well the values of a request go with the arguments of a tool, as a factor on its score, 1 at most: of tools that do much the same,
 * the one is meant whose arguments the request could fill.
 */
export const valueFit = ({ numbers, dates, texts }: GivenValues, wanted: WantedValues | undefined): number => {
  if (!wanted) return 1;
  const { required, mostNumbers } = wanted;
  return (
    1 -
    lacking.numbers * within(required.numbers - numbers, lackingMost.numbers) -
    lacking.dates * within(required.dates - dates, lackingMost.dates) -
    lacking.texts * within(required.texts - texts, lackingMost.texts) -
    leftOver * within(numbers - mostNumbers, leftOverMost)
  );
};

const within = (value: number, most: number): number => Math.min(Math.max(value, 0), most);
