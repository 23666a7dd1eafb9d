import { GantryError } from '../../kernel/errors.ts';

/** What a program may still do beside computing and using its files. */
export interface SeccompOptions {
  /** Sockets of the families IPv4 and IPv6; only for the step that installs packages. */
  readonly network?: boolean | undefined;
  /** Local sockets by path or name; leave it out where the host's own could be reached. */
  readonly localSockets?: boolean | undefined;
}

/**
 * The machine code of a seccomp filter (an array of `struct sock_filter`, Linux classic BPF) that refuses system calls that
 * reach into other processes, mounts, keys, namespaces, time, kernel modules and other attack surface that scripts do not need.
 * @throws {GantryError} `execution_failed` on a processor other than x64 and arm64.
 */
export const seccompProgram = (options: SeccompOptions = {}, arch: string = process.arch): Buffer => {
  const machine = machines[arch];
  if (!machine)
    throw new GantryError('execution_failed', `There is no system call filter for the processor "${arch}".`);
  const program: Instruction[] = [
    load(offset.arch),
    jumpIfEqual(machine.audit, 1, 0),
    give(action.kill),
    load(offset.number),
    // The 32-bit personality of x64 has numbers of its own, which would slip through.
    ...(machine.x32 ? [jumpIfAtLeast(0x4000_0000, 0, 1), give(action.errno(errno.ENOSYS))] : []),
  ];
  for (const number of machine.denied) program.push(jumpIfEqual(number, 0, 1), give(action.errno(errno.EPERM)));
  // Its flags lie in memory that a filter cannot read; libraries fall back to clone.
  program.push(jumpIfEqual(numbers.clone3, 0, 1), give(action.errno(errno.ENOSYS)));
  program.push(
    jumpIfEqual(machine.clone, 0, 4),
    load(offset.argument0),
    jumpIfAnySet(newNamespaces, 0, 1),
    give(action.errno(errno.EPERM)),
    give(action.allow),
  );
  const families = [
    ...(options.localSockets ? [family.unix] : []),
    ...(options.network ? [family.inet, family.inet6, family.netlink] : []),
  ];
  program.push(jumpIfEqual(machine.socket, 0, families.length + 3), load(offset.argument0));
  for (const [index, allowed] of families.entries()) program.push(jumpIfEqual(allowed, families.length - index, 0));
  program.push(give(action.errno(errno.EAFNOSUPPORT)), give(action.allow));
  // An allowed family lands here as well as every other call.
  program.push(give(action.allow));
  return encode(program);
};

interface Instruction {
  readonly code: number;
  readonly onTrue: number;
  readonly onFalse: number;
  readonly value: number;
}

const load = (value: number): Instruction => ({ code: 0x20, onTrue: 0, onFalse: 0, value });
const give = (value: number): Instruction => ({ code: 0x06, onTrue: 0, onFalse: 0, value });
const jumpIfEqual = (value: number, onTrue: number, onFalse: number): Instruction => ({
  code: 0x15,
  onTrue,
  onFalse,
  value,
});
const jumpIfAtLeast = (value: number, onTrue: number, onFalse: number): Instruction => ({
  code: 0x35,
  onTrue,
  onFalse,
  value,
});
const jumpIfAnySet = (value: number, onTrue: number, onFalse: number): Instruction => ({
  code: 0x45,
  onTrue,
  onFalse,
  value,
});

const encode = (program: readonly Instruction[]): Buffer => {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, onTrue, onFalse, value }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(onTrue, index * 8 + 2);
    bytes.writeUInt8(onFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
};

/** Offsets in `struct seccomp_data`; the low half of the first argument, on machines that put it first. */
const offset = { number: 0, arch: 4, argument0: 16 };
const action = { allow: 0x7fff_0000, kill: 0x8000_0000, errno: (code: number): number => 0x0005_0000 | code };
const errno = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 };
const family = { unix: 1, inet: 2, inet6: 10, netlink: 16 };
// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME.
const newNamespaces = 0x7e02_0080;

/** Numbers that are the same on every machine, being younger than 2019. */
const numbers = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  clone3: 435,
  pidfd_getfd: 438,
  process_madvise: 440,
  mount_setattr: 442,
  quotactl_fd: 443,
  memfd_secret: 447,
};
const { clone3: _answeredOtherwise, ...deniedEverywhere } = numbers;

// prettier-ignore
const deniedOnX64 = {
  shmget: 29, ptrace: 101, syslog: 103, uselib: 134, personality: 135, vhangup: 153, modify_ldt: 154, pivot_root: 155,
  adjtimex: 159, chroot: 161, acct: 163, settimeofday: 164, mount: 165, umount2: 166, swapon: 167, swapoff: 168,
  reboot: 169, sethostname: 170, setdomainname: 171, iopl: 172, ioperm: 173, init_module: 175, delete_module: 176,
  quotactl: 179, lookup_dcookie: 212, clock_settime: 227, mbind: 237, kexec_load: 246, add_key: 248, request_key: 249,
  keyctl: 250, migrate_pages: 256, unshare: 272, move_pages: 279, perf_event_open: 298, fanotify_init: 300,
  name_to_handle_at: 303, open_by_handle_at: 304, clock_adjtime: 305, setns: 308, process_vm_readv: 310,
  process_vm_writev: 311, kcmp: 312, finit_module: 313, memfd_create: 319, kexec_file_load: 320, bpf: 321, userfaultfd: 323,
};
// prettier-ignore
const deniedOnArm64 = {
  lookup_dcookie: 18, umount2: 39, mount: 40, pivot_root: 41, chroot: 51, vhangup: 58, quotactl: 60, acct: 89,
  personality: 92, unshare: 97, kexec_load: 104, init_module: 105, delete_module: 106, clock_settime: 112, syslog: 116,
  ptrace: 117, reboot: 142, sethostname: 161, setdomainname: 162, settimeofday: 170, adjtimex: 171, shmget: 194,
  add_key: 217, request_key: 218, keyctl: 219, swapon: 224, swapoff: 225, mbind: 235, migrate_pages: 238, move_pages: 239,
  perf_event_open: 241, fanotify_init: 262, name_to_handle_at: 264, open_by_handle_at: 265, clock_adjtime: 266, setns: 268,
  process_vm_readv: 270, process_vm_writev: 271, kcmp: 272, finit_module: 273, memfd_create: 279, bpf: 280,
  userfaultfd: 282, kexec_file_load: 294,
};

interface Machine {
  /** AUDIT_ARCH_… of the machine. */
  readonly audit: number;
  readonly denied: readonly number[];
  readonly clone: number;
  readonly socket: number;
  readonly x32: boolean;
}

const deniedOf = (own: Readonly<Record<string, number>>): number[] => [
  ...Object.values(own),
  ...Object.values(deniedEverywhere),
];

const machines: Readonly<Record<string, Machine>> = {
  x64: { audit: 0xc000_003e, denied: deniedOf(deniedOnX64), clone: 56, socket: 41, x32: true },
  arm64: { audit: 0xc000_00b7, denied: deniedOf(deniedOnArm64), clone: 220, socket: 198, x32: false },
};
