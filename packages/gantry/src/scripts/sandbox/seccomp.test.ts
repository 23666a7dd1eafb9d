import { describe, expect, it } from 'vitest';
import { seccompProgram } from './seccomp.ts';

const x64 = 0xc000_003e;
const arm64 = 0xc000_00b7;

/** Runs the filter as the kernel would: only the instructions that filters here are made of. */
const decide = (program: Buffer, call: { arch: number; number: number; argument0?: number }): string => {
  const words = new Map([
    [0, call.number],
    [4, call.arch],
    [16, call.argument0 ?? 0],
  ]);
  let accumulator = 0;
  for (let at = 0; at * 8 < program.length; at += 1) {
    const code = program.readUInt16LE(at * 8);
    const onTrue = program.readUInt8(at * 8 + 2);
    const onFalse = program.readUInt8(at * 8 + 3);
    const value = program.readUInt32LE(at * 8 + 4);
    const jump = (condition: boolean): void => void (at += condition ? onTrue : onFalse);
    if (code === 0x20) accumulator = words.get(value) as number;
    else if (code === 0x15) jump(accumulator === value);
    else if (code === 0x35) jump(accumulator >= value);
    else if (code === 0x45) jump((accumulator & value) !== 0);
    else if (code === 0x06) return actions.get(value) ?? `0x${value.toString(16)}`;
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error('the filter has no end');
};

const actions = new Map([
  [0x7fff_0000, 'allow'],
  [0x8000_0000, 'kill'],
  [0x0005_0001, 'EPERM'],
  [0x0005_0026, 'ENOSYS'],
  [0x0005_0061, 'EAFNOSUPPORT'],
]);

describe('seccompProgram', () => {
  const program = seccompProgram({ localSockets: true }, 'x64');
  const [read, socketCall, clone, fork] = [0, 41, 56, 57];

  it.each([
    ['read', read, undefined, 'allow'],
    ['fork', fork, undefined, 'allow'],
    ['ptrace', 101, undefined, 'EPERM'],
    ['mount', 165, undefined, 'EPERM'],
    ['unshare', 272, undefined, 'EPERM'],
    ['keyctl', 250, undefined, 'EPERM'],
    ['bpf', 321, undefined, 'EPERM'],
    ['io_uring_setup', 425, undefined, 'EPERM'],
    ['mount_setattr', 442, undefined, 'EPERM'],
    ['clone3, so that libraries use clone', 435, undefined, 'ENOSYS'],
    ['clone of a thread', clone, 0x3d0f00, 'allow'],
    ['clone into a user namespace', clone, 0x1000_0000, 'EPERM'],
    ['clone into a time namespace', clone, 0x80, 'EPERM'],
    ['a local socket', socketCall, 1, 'allow'],
    ['an IPv4 socket', socketCall, 2, 'EAFNOSUPPORT'],
    ['an IPv6 socket', socketCall, 10, 'EAFNOSUPPORT'],
    ['a netlink socket', socketCall, 16, 'EAFNOSUPPORT'],
    ['a packet socket', socketCall, 17, 'EAFNOSUPPORT'],
    ['a call of the 32-bit personality', 0x4000_0065, undefined, 'ENOSYS'],
  ] as const)('answers %s', (_name, number, argument0, expected) => {
    expect(decide(program, { arch: x64, number, ...(argument0 === undefined ? {} : { argument0 }) })).toBe(expected);
  });

  it('ends a process that calls as for another machine', () => {
    expect(decide(program, { arch: 0x4000_0003, number: 1 })).toBe('kill');
  });

  it.each([
    [{}, 1, 'EAFNOSUPPORT'],
    [{ network: true }, 2, 'allow'],
    [{ network: true }, 10, 'allow'],
    [{ network: true }, 1, 'EAFNOSUPPORT'],
    [{ network: true, localSockets: true }, 1, 'allow'],
    [{ network: true, localSockets: true }, 17, 'EAFNOSUPPORT'],
  ] as const)('opens with %j for the family %d: %s', (options, argument0, expected) => {
    expect(decide(seccompProgram(options, 'x64'), { arch: x64, number: socketCall, argument0 })).toBe(expected);
  });

  it('knows the numbers of arm64, and no other machine', () => {
    expect(decide(seccompProgram({}, 'arm64'), { arch: arm64, number: 117 })).toBe('EPERM');
    expect(decide(seccompProgram({}, 'arm64'), { arch: arm64, number: 63 })).toBe('allow');
    expect(() => seccompProgram({}, 'mips')).toThrow(/mips/);
  });
});
