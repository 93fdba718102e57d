"""Last: every name of the C API, and every function of the C half, has been used by the tests."""
import glob
import os
import re

import pytest

from heddle import _heddle
from conftest import CALLED

TOP = os.path.join(os.path.dirname(__file__), "..", "..")

# Names that Python does not call, and why.
NOT_CALLED = {
    "hd_any_close": "AnySize keeps sessions of Python",
    "hd_any_compiled": "AnySize keeps sessions of Python",
    "hd_any_open": "AnySize keeps sessions of Python",
    "hd_any_session": "AnySize keeps sessions of Python",
    "hd_clear": "each call has a context of its own",
    "hd_model_initial": "sessions begin with it",
}


def names():
    with open(os.path.join(TOP, "compiler/api/libheddle.map"), encoding="utf-8") as f:
        public = f.read().split("HEDDLE_PROGRAM")[0]
        return re.findall(r"^    (hd_\w+);", public, flags=re.M)


def test_every_name_of_the_library():
    text = ""
    for path in glob.glob(os.path.join(TOP, "runtime/python/*.c")):
        with open(path, encoding="utf-8") as f:
            text += f.read()
    called = set(re.findall(r"\bhd_\w+", text))
    assert set(names()) - called == set(NOT_CALLED)


def test_every_function_was_called(request):
    if len({item.fspath for item in request.session.items}) < 6:
        pytest.skip("only some of the tests run")
    functions = {n for n in dir(_heddle) if not n.startswith("_") and n != "Error"}
    assert functions - CALLED == {"version"}  # called when the package is imported
