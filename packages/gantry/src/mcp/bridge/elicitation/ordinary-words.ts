import { foldText } from './fold-text.ts';

/**
 * What ordinary forms ask for in words of credentials. It is taken out of a text before that is searched, so that all else in it still counts.
 */
export const withoutOrdinary = (text: string): string => text.replaceAll(ordinary, ' ');

/** The same for a text that names ways to pay, "PayPal or credit card": which one is no question for a number. */
export const withoutWaysToPay = (text: string): string => (otherWays.test(text) ? text.replaceAll(cards, ' ') : text);

// Folded, as the texts are.
const foreign = [
  `(?<!\\p{L})${foldText('암호화폐')}`,
  foldText('スピンコード'),
  `(?<!\\p{L})${foldText('спин')} ?${foldText('код')}(?!\\p{L})`,
];

const ordinary = new RegExp(
  String.raw`(?<!\p{L})(?:${[
    // What a model reads is measured in tokens; lists go on behind one; coins have them.
    'tokens? (?:counts?|limits?|budgets?|usage|numbers?|sizes?|length|price|window|symbols?)',
    '(?:max|min|maximum|minimum|total|count of|number of) tokens?',
    '(?:next |previous )?page token|continuation token|^next token$',
    'pin (?:colou?rs?|boards?|sizes?|labels?|icons?)',
    '(?:postal|postcode|zip|indian?) pin ?codes?|pin ?codes? (?:postal|postcode|zip|india)',
    'secret santa|(?:academic|professional|educational) credentials?',
    // Not that of a bank.
    'customer account numbers?(?<!bank.{0,60})(?!.{0,60}bank)',
    'password (?:polic(?:y|ies)|managers?)',
    'two ?factor anova',
    // "Your token, symbol by symbol" is the token.
  ].join('|')})(?!\p{L})(?! by(?!\p{L}))|${foreign.join('|')}`,
  'giu',
);

const cards =
  /(?<!\p{L})(?:credit ?cards?|debit ?cards?|kreditkarten?)(?!\p{L})(?! ?(?:no|nr|num|data|details|info))/gu;
const otherWays =
  /(?<!\p{L})(?:pay ?pal|invoice|rechnung|cash|bank transfer|uberweisung|lastschrift|apple pay|google pay|klarna)(?!\p{L})/u;
