import { expect, it } from 'vitest';
import { isProtection, misspeltFields } from './misspelt-fields.ts';

it.each([
  ['deniedtools', 'deniedTools', true],
  ['allowedTool', 'allowedTools', true],
  ['disable', 'disabled', true],
  ['argguards', 'argGuards', true],
  ['toolTimeoutms', 'toolTimeoutMs', false],
  ['header', 'headers', false],
])('"%s" was meant to be "%s"', (written, meant, protects) => {
  const [found] = misspeltFields({ url: 'https://a.example', [written]: 1 });
  expect(found).toEqual({ written, meant });
  expect(found && isProtection(found)).toBe(protects);
});

it.each(['description', 'autoApprove', 'alwaysAllow', 'timeout', 'icon', 'note', 'tools', 'name'])(
  'leaves "%s" to other programs',
  (field) => {
    expect(misspeltFields({ url: 'https://a.example', [field]: 1 })).toEqual([]);
  },
);
