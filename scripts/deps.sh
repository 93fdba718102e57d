#!/bin/sh
# Installs the Debian packages that building and testing need, and only those that are missing.
# Does nothing, quickly, when all are there. Training the example networks (scripts/train_*.py)
# additionally needs python3-sklearn and python3-onnx, which are not installed here.
set -eu
want="gcc g++ clang make libc6-dev verilator libcmocka-dev libjson-c-dev libsqlite3-dev libzip-dev zlib1g-dev clang-format python3 libdnnl-dev llvm-19-dev pkgconf binutils libonnx-testdata pocl-opencl-icd ocl-icd-libopencl1 libpng16-16 libturbojpeg0 tcl python3-dev python3-venv python3-numpy python3-pytest libjs-d3"
[ "${1:-}" != xrt ] || want="libxrt1 ocl-icd-libopencl1 unzip procps" # `deps.sh xrt`: for device xrt in hardware emulation
[ "${1:-}" != gpu ] || want="pocl-opencl-icd ocl-icd-libopencl1 oclgrind clinfo" # for device opencl
[ "${1:-}" != formal ] || want="$want yosys" # for make formal and make synth
[ "${1:-}" != report ] || want="chromium graphviz python3-jsonschema" # for make test-report to look at pages, heddle graph, make test-schemas

[ "${1:-}" != deb ] || want="dpkg-dev binutils lintian cmake pkgconf mmdebstrap" # for make deb and make test-deb
[ "${1:-}" != web ] || want="emscripten node-acorn chromium" # for make web and make test-web
[ "${1:-}" != mpi ] || want="openmpi-bin libopenmpi-dev" # for make test-mpi: several ranks
[ "${1:-}" != remote ] || want="openssh-server openssh-client" # for make nightly: devices by a real sshd

command -v dpkg-query > /dev/null 2>&1 || {
    echo "deps: this is not Debian; please install by hand what is missing of: $want" >&2
    exit 0
}
# shellcheck disable=SC2086
have=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' $want 2> /dev/null || :)"
missing=
for p in $want; do
    case "$have" in *" installed:$p "*) ;; *) missing="$missing $p" ;; esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    root=
elif command -v sudo > /dev/null 2>&1; then
    root=sudo
else
    echo "deps: missing packages, and neither root nor sudo to install them. As root, run:" >&2
    echo "    apt-get install --no-install-recommends$missing" >&2
    exit 1
fi
echo "deps: installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
[ "${1:-}" != remote ] || export RUNLEVEL=1 # no service is started
$root apt-get update -qq
# shellcheck disable=SC2086
$root apt-get install -y -qq --no-install-recommends $missing > /dev/null
