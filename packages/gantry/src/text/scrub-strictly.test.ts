import { describe, expect, it } from 'vitest';
import { redactText } from './scrub-strictly.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEF';

describe('redactText', () => {
  it.each([
    ['what scrubText masks', 'password=hunter2&x=1', 'password=[redacted]&x=1'],
    ['a password in a URL', 'postgres://joe:pw@db.example/x', 'postgres://joe:[redacted]@db.example/x'],
    ['a named value in prose', 'My password is hunter2, ok?', 'My password is [redacted], ok?'],
    ['one some words further on', "the wiki's API key for Joe is: abc", "the wiki's API key for Joe is: [redacted]"],
    ['one with a colon', 'PIN: 1234', 'PIN: [redacted]'],
    ['one on the next line', 'token:\n  abc', 'token:\n  [redacted]'],
    ['one in quotes', 'secret = "two words" and', 'secret = [redacted] and'],
    ['several', 'pin is 1 and the password was 2', 'pin is [redacted] and the password was [redacted]'],
    ['bearer tokens without digits', 'Bearer abcdefghijkl', 'Bearer [redacted]'],
    ['basic credentials', 'Basic abcdefghijkl==', 'Basic [redacted]'],
    ['a provider key', `use sk-proj-${letters}`, 'use [redacted]'],
    ['a cloud key id', 'AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    ['a JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', '[redacted]'],
    ['a PEM block', '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter', '[redacted]\nafter'],
    ['a card number', 'card 4111111111111111.', 'card [redacted].'],
    ['one in groups', '4111 1111 1111 1111 or 3782-822463-10005', '[redacted] or [redacted]'],
    ['a social security number', 'it is 078-05-1120', 'it is [redacted]'],
    ['a long mix of letters and digits', `see ${'a1'.repeat(16)} there`, 'see [redacted] there'],
    ['a recovery key', 'abcd-1234-efgh-5678-ijkl-9012-mnop-3456', '[redacted]'],
    ['base64', 'Zm9vYmFy/Zm9vYmFyMTIz+Zm9vYmFyZm9vYmFyMTIz', '[redacted]'],
  ])('masks %s', (_, text, redacted) => {
    expect(redactText(text)).toBe(redacted);
  });

  it.each([
    'Send it to the work mailbox, please.',
    'The pinned note is on the board',
    'attachments/reports/2026/quarterly/summary.xlsx',
    'Call +49 30 1234567 on 2026-11-30 at 21:04',
    'an order of 12 pieces, number 123456789012',
    'a-very-long-word-that-has-nothing-but-letters-in-it',
    '0.1234567890123456',
  ])('keeps %s', (text) => {
    expect(redactText(text)).toBe(text);
  });

  it.each(['1 ', '1', '1234 ', 'token is ', 'password a ', 'secret="', 'a1', 'a1-/', 'Basic ', 'is is '])(
    'stays linear on a megabyte of %j',
    (piece) => {
      expect(redactText(piece.repeat(1_000_000 / piece.length)).length).toBeLessThanOrEqual(1_600_000);
    },
  );
});
