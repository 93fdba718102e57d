#!/bin/sh
# make demo: the digits network on the simulated chip, all 360 held-out images. Under a minute.
set -eu
cd "$(dirname "$0")/.."
exec "${HEDDLE:-build/heddle}" demo test/models/digits --device rtl "$@"
