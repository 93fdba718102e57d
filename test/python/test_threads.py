"""Threads, the interpreter's lock, Ctrl-C."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import heddle
from conftest import DIGITS, LONG_SHAPE, long_network


def in_threads(*functions):
    failed = []

    def call(f):
        try:
            f()
        except BaseException as e:
            failed.append(e)
    threads = [threading.Thread(target=call, args=(f,)) for f in functions]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        raise failed[0]


def test_two_sessions(digits, image):
    want = digits.run(image)[0]

    def work(device):
        with digits.open(device) as s:
            for _ in range(20):
                assert np.array_equal(s.run(image)[0], want)
    in_threads(lambda: work("iss"), lambda: work("golden"), lambda: work("iss"))


def test_one_session(digits, image):
    want = digits.run(image)[0]
    with digits.open() as s:
        def work():
            for _ in range(20):
                assert np.array_equal(s.run(image)[0], want)
        in_threads(work, work)


def test_two_compilations():
    found = []
    in_threads(*[lambda: found.append(len(heddle.compile(DIGITS, "tiny").layers))] * 3)
    assert found == [7, 7, 7]


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "long.hdl"
    long_network().compile("tiny").save(path)
    return path


def cancelled(session, x):
    """Cancels a run in another thread; how long it went on."""
    ended = []

    def work():
        try:
            session.run(x)
        except heddle.Error as e:
            ended.append(e)
    thread = threading.Thread(target=work)
    thread.start()
    while not session.cancel():
        time.sleep(0.001)
    begin, steps = time.monotonic(), 0
    while thread.is_alive():
        steps += 1
        time.sleep(0.001)
    took = time.monotonic() - begin
    assert ended[0].status == "cancelled" and not session.cancel()
    session.close()
    return took, steps


def test_lock_is_free_and_cancel(long):
    """While one thread is in the library, this one counts; then it ends the other's run."""
    took, steps = cancelled(heddle.Model.load(long).open("iss"), np.zeros(LONG_SHAPE, np.int8))
    assert took < 2 and steps > 0


def test_cancel_inside_an_operation():
    g = heddle.Graph("one")
    x = g.input("x", (1, 256, 64, 64))
    g.output(g.conv(x, np.ones((512, 256, 3, 3), np.float32), pads=[1] * 4), "y")  # 4.8 G MACs
    session = g.compile(host_only=True).open("golden")
    took, _ = cancelled(session, np.ones((1, 256, 64, 64), np.float32))
    assert took < 1


CODE = """
import os, sys
sys.path.insert(0, sys.argv[1])
import heddle, numpy as np
from conftest import LONG_SHAPE, long_network
what, path, x = sys.argv[2], sys.argv[3], np.zeros(LONG_SHAPE, np.int8)
net = long_network()
session = heddle.Model.load(path).open("iss")
if what == "wait":
    session.queue(1)
    request = session.submit(x)
print("begin", flush=True)
try:
    if what == "compile":
        net.compile("tiny")
    elif what == "wait":
        request.wait()
    else:
        session.run(x)
    print("done")
except KeyboardInterrupt:
    print("interrupted", flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("what", ["run", "compile", "wait"])
def test_keyboard_interrupt(what, long):
    here = os.path.dirname(__file__)
    with subprocess.Popen([sys.executable, "-c", CODE, here, what, str(long)],
                          stdout=subprocess.PIPE, text=True) as p:
        assert p.stdout.readline() == "begin\n"
        time.sleep(0.2)
        begin = time.monotonic()
        p.send_signal(signal.SIGINT)
        assert p.stdout.readline() == "interrupted\n"
        assert time.monotonic() - begin < 3
