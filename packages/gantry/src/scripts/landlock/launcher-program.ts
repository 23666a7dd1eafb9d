/**
 * Python program that keeps a command in without namespaces: resource limits, Landlock (Linux) and a seccomp filter. It stays
 * as the parent, takes in whatever the command starts and leaves behind, and ends all of it when the command has ended or
 * when it is told to (SIGTERM). Reads its order, a JSON object, from descriptor 3; with the argument `probe` it prints the Landlock version instead.
 *
 * Where it runs as root the command gets a user of its own, by which everything of it can be ended at one stroke.
 */
export const landlockProgram = `
import base64, ctypes, json, os, resource, signal, struct, sys, time
order = None
if sys.argv[1:] != ["probe"]:
    # Not an argument: those are short, and everybody on the machine can read them.
    with os.fdopen(3, "rb") as pipe:
        order = json.loads(pipe.read())
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
NEW_RULESET, ADD_RULE, RESTRICT = 444, 445, 446
version = libc.syscall(NEW_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(1))
if order is None:
    print(version)
    sys.exit(0)

def need(result, what):
    if result < 0:
        sys.stderr.write("sandbox: %s failed: %s\\n" % (what, os.strerror(ctypes.get_errno())))
        os._exit(125)
    return result

EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8
FILE_BITS = EXECUTE | WRITE | READ | (1 << 14) | (1 << 15)
ALL = (1 << 16) - 1 if version >= 5 else (1 << 15) - 1
NO_DEVICES = ALL & ~((1 << 6) | (1 << 11) | (1 << 15))
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 22, 36, 38

def allow(ruleset, path, access):
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not os.path.isdir(path):
        access &= FILE_BITS
    rule = struct.pack("=Qi", access & ALL, fd)
    need(libc.syscall(ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint(0)), "rule for " + path)
    os.close(fd)

def restrict():
    attributes = struct.pack("=QQQ", ALL, 0 if order["network"] else 3, 3)
    size = 24 if version >= 6 else 16
    ruleset = need(libc.syscall(NEW_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint(0)), "Landlock")
    for path in order["readable"]:
        allow(ruleset, path, EXECUTE | READ | LIST)
    for path in order["writable"]:
        allow(ruleset, path, NO_DEVICES)
    for path in ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"):
        allow(ruleset, path, READ | WRITE)
    need(libc.syscall(RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint(0)), "Landlock")
    os.close(ruleset)

def filter_calls():
    code = base64.b64decode(order["filter"])
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    need(libc.prctl(PR_SET_SECCOMP, 2, program, 0, 0), "seccomp")

def tasks_of_user():
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat("/proc/" + name).st_uid == os.getuid():
                    count += len(os.listdir("/proc/%s/task" % name))
            except OSError:
                pass
    return count

def become_command():
    os.setpgid(0, 0)
    # Only the command joins: a group that is full or out of memory must not take its keeper with it.
    for path in order["join"]:
        with open(path, "w") as file:
            file.write(str(os.getpid()))
    for name in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(name, signal.SIG_DFL)
    limits = order["limits"]
    # The kernel counts all that the user runs, so what runs already comes on top.
    extra = 0 if order["uid"] is not None else tasks_of_user()
    for name, (soft, hard) in limits.items():
        if name == "nproc":
            soft, hard = soft + extra, hard + extra
        current = resource.getrlimit(getattr(resource, "RLIMIT_" + name.upper()))[1]
        if current != resource.RLIM_INFINITY:
            soft, hard = min(soft, current), min(hard, current)
        resource.setrlimit(getattr(resource, "RLIMIT_" + name.upper()), (soft, hard))
    if order["uid"] is not None:
        os.setgroups([])
        os.setresgid(order["gid"], order["gid"], order["gid"])
        os.setresuid(order["uid"], order["uid"], order["uid"])
    os.chdir(order["cwd"])
    need(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    restrict()
    filter_calls()
    os.execve(order["command"][0], order["command"], order["env"])

def descendants():
    found, waiting = [], [os.getpid()]
    while waiting:
        at = waiting.pop()
        try:
            with open("/proc/%d/task/%d/children" % (at, at)) as file:
                children = [int(word) for word in file.read().split()]
        except OSError:
            children = []
        found += children
        waiting += children
    return found

def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass

def end_group():
    for path in order["join"]:
        try:
            with open(os.path.join(os.path.dirname(path), "cgroup.kill"), "w") as file:
                file.write("1")
        except OSError:
            # Not there with control groups of version 1, nor on kernels before 5.14.
            pass

def end_user():
    if order["uid"] is None:
        return
    helper = os.fork()
    if helper == 0:
        os.setresuid(order["uid"], order["uid"], order["uid"])
        try:
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    # It is of the user of the script for a moment, which must not hold it up for ever.
    for _ in range(200):
        if os.waitpid(helper, os.WNOHANG)[0]:
            return
        time.sleep(0.005)

def end_all():
    while True:
        # Each pass tries everything, since what could not be done once may succeed when fewer are left.
        for end in (end_group, end_user):
            try:
                end()
            except OSError:
                pass
        left = descendants()
        # Stopped first, so that none starts another while its neighbours are ended.
        send(left, signal.SIGSTOP)
        send(left, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)

def told(number, frame):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    end_all()
    os._exit(128 + signal.SIGKILL)

os.umask(0o077)
need(libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "subreaper")
need(libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0), "parent death signal")
signal.signal(signal.SIGTERM, told)
if os.getppid() != order["parent"]:
    os._exit(125)
child = os.fork()
if child == 0:
    try:
        become_command()
    except BaseException as error:
        sys.stderr.write("sandbox: %s\\n" % error)
    os._exit(125)
os.close(0)
while True:
    pid, status = os.wait()
    if pid == child:
        break
signal.signal(signal.SIGTERM, signal.SIG_IGN)
end_all()
os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
`;
