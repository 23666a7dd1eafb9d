import { flattenText } from '../../../text/flatten.ts';
import type { FormField } from './form-field.ts';

/**
 * True when a field asks for a credential or the like, by its name, title or description. Such a form is never answered, and no setting
 * changes that.
 */
export const isSensitive = (field: FormField): boolean =>
  [field.name, field.title, field.description].some((text) => text !== undefined && isSensitiveText(text));

/** The same for a bare text, such as the name of an argument. */
export const isSensitiveText = (text: string): boolean => {
  const plain = flattenText(text, { maxChars: maxChars }).normalize('NFKC');
  // Humps are read both ways: "userPIN" has two words, "APIkey" is one.
  return [plain.replaceAll(hump, ' '), plain].some((reading) => {
    const words = reading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
      .trim();
    return phrases.test(words) || words.split(' ').some((word) => sensitiveWords.has(word));
  });
};

/** More than any field keeps. */
const maxChars = 5_000;

// Between a small letter and a capital, before the last capital of several, and between letters and digits ("2FA", "password2").
const hump = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{N})(?=\p{L})|(?<=\p{L})(?=\p{N})/gu;

const phrases = new RegExp(
  [
    ...(
      'api key,private key,ssh key,secret key,client secret,connection string,social security,credit card,card number,security code,' +
      'account number,routing number,pin code,pass word,pass code,verification code,login code,seed phrase,access token,recovery code,' +
      'one time,auth code,authorization code,mfa code,access code,two factor'
    )
      .split(',')
      .map((phrase) => phrase.replace(' ', ' ?')),
    // Between other letters and digits these three would be found in "line 2 family".
    '(?<!\\p{N})2 ?fa(?!\\p{L})',
  ].join('|'),
  'u',
);

const sensitiveWords: ReadonlySet<string> = new Set(
  (
    'password passwords passwd pwd passcode passphrase userpassword passwort kennwort totp accesstoken iban seedphrase secret secrets token credential credentials apikey privatekey creditcard ssn cvv cvc otp mfa ' +
    'pin bearer auth'
  ).split(' '),
);
