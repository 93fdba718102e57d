#!/bin/sh
# The wheel in a fresh virtual environment: usage wheel.sh PYTHON WHEEL, from the top of the repository.
# numpy is seen by one environment and not by the other.
set -eu
python=$1 wheel=$PWD/$2
W=$(mktemp -d /tmp/heddle-wheel-XXXXXX)
trap 'rm -rf "$W"' EXIT
trap 'exit 1' INT TERM
unset PYTHONPATH HEDDLE_RTL_DIR HEDDLE_PLUGINS
"$python" -m venv "$W/venv" || { echo "  FAIL  wheel: no virtual environment (Debian package python3-venv)"; exit 1; }
"$W/venv/bin/pip" install -q --disable-pip-version-check --no-index "$wheel"
cp -r test/models/digits "$W/"
cd "$W" # the source tree is out of sight
cat > try.py << 'END'
import sys
import heddle
model = heddle.compile("digits", "tiny")
image = [[[[0.0] * 8] * 8]]
result = model.run(image)
assert result.cycles == model.run(image, device="iss").cycles > 0
assert result[0].tolist() == model.run(image, device="cpu")[0].tolist()
here = sys.modules["heddle"].__file__
assert here.startswith(sys.prefix), here
print(f"{result.cycles} cycles, {type(result[0]).__name__}")
END
echo "  ok    wheel: in a fresh environment: $("$W/venv/bin/python" -X dev -W error try.py)"
rm -rf "$W/venv/lib/python3"*/site-packages/pip*
sed -i 's/^include-system-site-packages = .*/include-system-site-packages = true/' "$W/venv/pyvenv.cfg"
echo "  ok    wheel: with the system's packages: $("$W/venv/bin/python" -X dev -W error try.py)"
