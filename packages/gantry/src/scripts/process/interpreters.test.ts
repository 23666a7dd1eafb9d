import { describe, expect, it } from 'vitest';
import type { ScriptRequest } from '../runner.ts';
import { toCommand } from './interpreters.ts';

const file = (content: string): ScriptRequest => ({
  file: 'a.sh',
  files: [{ path: 'a.sh', bytes: Buffer.from(content) }],
  timeoutMs: 1,
});

describe('toCommand', () => {
  it('puts the source into a file and runs that', () => {
    const command = toCommand({ interpreter: 'sh', script: 'echo "$1"', timeoutMs: 1 });
    expect(command).toMatchObject({ args: ['script.sh'], source: { path: 'script.sh', text: 'echo "$1"' } });
    expect(command.program).toMatch(/\/sh$/);
  });

  it.each(['no-such-lang', 'constructor', ''])('refuses the interpreter %j', (interpreter) => {
    expect(() => toCommand({ interpreter, script: 'x', timeoutMs: 1 })).toThrow(`no interpreter "${interpreter}"`);
  });

  it('says which program is missing', () => {
    const request: ScriptRequest = { interpreter: 'python', script: 'x', timeoutMs: 1 };
    expect(() => toCommand(request, '/nowhere')).toThrow(/no python3 in \/nowhere/);
  });

  it.each([
    ['#!/bin/sh\necho hi\n', /\/sh$/, ['./a.sh']],
    ['#!/usr/bin/env sh\necho hi\n', /\/sh$/, ['./a.sh']],
    ['#! /bin/sh -e\n', /\/sh$/, ['-e', './a.sh']],
    ['echo no first line that names one\n', /\/sh$/, ['./a.sh']],
  ])('runs a file that begins with %j by its first line', (content, program, args) => {
    const command = toCommand(file(content));
    expect(command.program).toMatch(program);
    expect(command.args).toEqual(args);
    expect(command.source).toBeUndefined();
  });

  it('names the file and the interpreter that the file asks for in vain', () => {
    expect(() => toCommand(file('#!/usr/bin/no-such-lang\nx\n'))).toThrow(/"a\.sh".*no-such-lang/);
    expect(() => toCommand(file('#!/usr/bin/env no-such-lang\nx\n'))).toThrow(/"a\.sh".*no-such-lang/);
    expect(() => toCommand({ file: 'missing.sh', timeoutMs: 1 })).toThrow(/"missing\.sh" was not found/);
  });
});
