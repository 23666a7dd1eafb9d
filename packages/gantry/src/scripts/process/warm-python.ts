/**
 * Python program of a process that waits for its script: it reads one line of JSON from descriptor 4 (`env`, `cpu`), then
 * runs `script.py` of its folder the way `python3 script.py` would.
 */
export const warmPythonProgram = `
import sys, os, io, json, resource
with os.fdopen(4, "rb") as control:
    line = control.readline()
if not line:
    os._exit(0)
order = json.loads(line)
os.environ.clear()
os.environ.update(order["env"])
resource.setrlimit(resource.RLIMIT_CPU, tuple(order["cpu"]))
import __main__
path = os.path.join(os.getcwd(), "script.py")
sys.argv = ["script.py"]
sys.path[0] = os.getcwd()
scope = __main__.__dict__
for name in ("io", "os", "sys", "json", "resource", "control", "line", "order"):
    scope.pop(name, None)
def run(path, scope):
    import sys
    scope.pop("run"), scope.pop("path"), scope.pop("scope"), scope.pop("name"), scope.pop("__main__", None)
    scope["__file__"] = path
    with open(path, "rb") as file:
        source = file.read()
    try:
        exec(compile(source, path, "exec"), scope)
    except SystemExit:
        raise
    except BaseException as error:
        trace = error.__traceback__
        sys.excepthook(type(error), error.with_traceback(trace.tb_next if trace else None), trace.tb_next if trace else None)
        sys.stdout.flush()
        sys.exit(1)
run(path, scope)
`;
