"""A headless Chromium that a test drives by its own protocol, over two pipes."""
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
         "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1320,1600", "about:blank"]


class Browser:
    def __init__(self):
        self.home = tempfile.TemporaryDirectory()
        here_in, there_out = os.pipe()
        there_in, here_out = os.pipe()

        def ends():  # Chromium reads 3 and writes 4
            a, b = os.dup(there_in), os.dup(there_out)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen([PROGRAM, f"--user-data-dir={self.home.name}", *FLAGS], preexec_fn=ends,
                                        close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there_in)
        os.close(there_out)
        self.read, self.write = here_in, here_out
        self.rest, self.number, self.session, self.said = b"", 0, None, []
        target = next(t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.ask(domain + ".enable")

    def message(self, seconds):
        os.set_blocking(self.read, False)
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            if time.monotonic() > end:
                raise TimeoutError("the browser is silent")
            try:
                data = os.read(self.read, 1 << 20)
                if not data:
                    raise EOFError("the browser has ended")
                self.rest += data
            except BlockingIOError:
                time.sleep(0.01)
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, seconds=120, **params):
        self.number += 1
        question = {"id": self.number, "method": method, "params": params}
        if self.session:
            question["sessionId"] = self.session
        os.write(self.write, json.dumps(question).encode() + b"\0")
        while True:
            m = self.message(seconds)
            if m.get("id") == self.number:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]
            if m.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.said.append(json.dumps(m["params"])[:400])

    def value(self, expression):
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def until(self, expression, seconds):
        end = time.monotonic() + seconds
        while not (value := self.value(expression)):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression}: not so after {seconds} s")
            time.sleep(0.05)
        return value

    def choose(self, selector, path):
        """A file for an input element, as if it had been dropped."""
        root = self.ask("DOM.getDocument")["root"]["nodeId"]
        node = self.ask("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.ask("DOM.setFileInputFiles", nodeId=node, files=[os.path.abspath(path)])

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.home.cleanup()
