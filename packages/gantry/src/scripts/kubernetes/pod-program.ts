/**
 * Python program that is the first process of a pod (image with Python 3.8 or newer). It runs the script of the variable
 * `GANTRY_SCRIPT` in a process of its own with a clean environment, ends it at its limits, and writes what comes out as lines of
 * JSON, since the log of a pod does not tell the two output streams apart. Its argument is a JSON object: `timeoutMs`, `cpuSeconds`,
 * `headBytes` and `tailBytes` kept of each stream, `maxOutputBytes`, `maxFileBytes`, `env`.
 *
 * Lines: `{"s": "out" | "err", "b": base64}` while a stream's beginning comes; at the end for each stream `{"s", "t": base64 of its
 * end, "n": all its bytes}`, and `{"exit": code or null, "signal": number or null, "ended": limit or null, "ms": number}`.
 */
export const podProgram = `
import base64, json, os, resource, signal, subprocess, sys, threading, time
order = json.loads(sys.argv[1])
lock = threading.Lock()
ended = []
total = [0]

def say(value):
    with lock:
        sys.stdout.write(json.dumps(value) + "\\n")
        sys.stdout.flush()

def place():
    # The file system is read-only; the memory that processes share is not.
    try:
        os.mkdir("/dev/shm/work", 0o700)
        return "/dev/shm/work"
    except OSError:
        return None

def limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (order["cpuSeconds"], order["cpuSeconds"] + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (order["maxFileBytes"], order["maxFileBytes"]))

def end_all():
    try:
        # As the first process of its container this reaches everything the script has started.
        if os.getpid() == 1:
            os.kill(-1, signal.SIGKILL)
        else:
            os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass

def end(limit):
    ended.append(limit)
    end_all()

def carry(name, stream):
    seen, tail = 0, b""
    while True:
        chunk = stream.read1(65536)
        if not chunk:
            break
        head = chunk[: max(0, order["headBytes"] - seen)]
        seen += len(chunk)
        total[0] += len(chunk)
        if head:
            say({"s": name, "b": base64.b64encode(head).decode()})
        tail = (tail + chunk[len(head) :])[-order["tailBytes"] :] if order["tailBytes"] else b""
        if total[0] > order["maxOutputBytes"]:
            end("output")
            total[0] = float("-inf")
    say({"s": name, "t": base64.b64encode(tail).decode(), "n": seen})

work = place()
source = os.environ["GANTRY_SCRIPT"]
command = [sys.executable, "-B", "-u"]
if work:
    with open(work + "/script.py", "w", encoding="utf-8") as file:
        file.write(source)
    command += ["script.py"]
else:
    command += ["-c", source]
env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "USER": "script"}
env.update({"HOME": work or "/", "TMPDIR": work or "/dev/shm"})
env.update(order["env"])
env["GANTRY_INPUT"] = os.environ.get("GANTRY_INPUT", "")
started = time.monotonic()
child = subprocess.Popen(
    command, cwd=work or "/", env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    preexec_fn=limit, start_new_session=True,
)
threads = [
    threading.Thread(target=carry, args=pair, daemon=True) for pair in (("out", child.stdout), ("err", child.stderr))
]
for thread in threads:
    thread.start()
try:
    code = child.wait(order["timeoutMs"] / 1000)
except subprocess.TimeoutExpired:
    end("time")
    code = child.wait()
elapsed = round((time.monotonic() - started) * 1000)
end_all()
for thread in threads:
    thread.join(5)
say({"exit": None if code < 0 else code, "signal": -code if code < 0 else None, "ended": (ended or [None])[0], "ms": elapsed})
os._exit(0)
`;
