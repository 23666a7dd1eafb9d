import { describe, expect, it } from 'vitest';
import { isDatabaseUrl, shownDatabase } from './database-url.ts';

describe('shownDatabase', () => {
  it.each([
    ['postgres://user:secret@db.example:5433/gantry', 'db.example:5433/gantry'],
    ['postgresql://user:s%40cret@db.example/gantry?sslmode=verify-full&password=secret', 'db.example/gantry'],
    ['postgres://db.example', 'db.example'],
    ['postgres:///gantry?host=/var/run/postgresql&password=secret', '/var/run/postgresql/gantry'],
    ['postgres://user:secret@[::1]:5432/gantry', '[::1]:5432/gantry'],
  ])('shows where %s is, and no secret', (url, shown) => {
    expect(isDatabaseUrl(url)).toBe(true);
    expect(shownDatabase(url)).toBe(shown);
  });

  it.each([
    'mysql://user:secret@db.example/gantry',
    'postgres://user:sec%ret@db.example/gantry',
    'postgres://user:sec ret@db.example/gantry',
    'db.example',
    '',
  ])('refuses "%s" without repeating it', (url) => {
    expect(isDatabaseUrl(url)).toBe(false);
    const show = (): string => shownDatabase(url);
    expect(show).toThrow(expect.objectContaining({ code: 'config_invalid' }) as Error);
    expect(show).not.toThrow(/secret|sec.?ret/);
  });
});
