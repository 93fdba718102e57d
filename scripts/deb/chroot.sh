#!/bin/sh
# The packages of a folder in a fresh Debian without the source tree: chroot.sh PACKAGES, as root, with
# mmdebstrap and a mirror that apt reaches. Device rtl is tried on the machines whose models are in them.
set -u
packages=$1
command -v mmdebstrap > /dev/null || { echo "  SKIP  install: mmdebstrap is not installed; scripts/deps.sh deb installs it"; exit 0; }
[ "$(id -u)" = 0 ] || { echo "  SKIP  install: a chroot needs root"; exit 0; }
W=$(mktemp -d /tmp/heddle-chroot-XXXXXX)
# mmdebstrap leaves mounts when it is broken off.
trap 'for m in proc sys dev/pts dev/shm; do umount "$W/root/$m" 2> /dev/null; done; rm -rf --one-file-system "$W"' EXIT
trap 'exit 1' INT TERM
fail() { echo "  FAIL  install: $1"; tail -20 "$W/log"; exit 1; }
echo "  ...   install: a fresh Debian in $W/root"
mkdir "$W/packages"
cp "$packages"/*.deb "$W/packages/"
mkdir -p "$W/packages/test/models"
cp -r test/models/digits "$W/packages/test/models/"
awk '/^```/ { on = $0 == "```python"; next } on' README.md > "$W/packages/example.py"
grep -q 'import heddle' "$W/packages/example.py" || { echo "  FAIL  install: README.md has no example in Python"; exit 1; }
# The hook runs while the chroot still has apt's lists and the resolver.
mmdebstrap --quiet --mode=root --variant=minbase --customize-hook="copy-in $W/packages /" \
    --customize-hook='chroot "$1" sh -c "apt-get install -y -qq --no-install-recommends /packages/*.deb python3-numpy"' \
    bookworm "$W/root" > "$W/log" 2>&1 < /dev/null || fail "mmdebstrap and apt-get install"
mount -t proc proc "$W/root/proc" || fail "mounting proc" # programs find their folder by it
inside() { chroot "$W/root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
echo "  ok    install: $(cd "$packages" && echo *.deb)"
inside sh -c 'cd /packages && python3 example.py' > "$W/log" 2>&1 && grep -q '^[1-9][0-9]* cycles$' "$W/log" ||
    fail "the example of README.md in Python"
echo "  ok    install: Python, the example of README.md, $(grep -m 1 cycles "$W/log")"
models=$(ls "$W/root/usr/lib/heddle/rtl" 2> /dev/null | sed -n 's/^libhd_rtl_\(.*\)\.so$/\1/p')
[ -n "$models" ] || echo "  SKIP  install: no RTL model is in the packages (make deb DEB_RTL=tiny)"
for run in iss:tiny $(for m in $models; do echo "rtl:$m"; done); do
    inside heddle run /packages/test/models/digits --device "${run%:*}" --machine "${run#*:}" > "$W/log" 2>&1 || fail "heddle run on $run"
    echo "  ok    install: heddle run on $run, $(awk '$1 == "total" { print $2; exit }' "$W/log") cycles"
done
inside apt-get purge -y -qq heddle 'libheddle*' python3-heddle > "$W/log" 2>&1 || fail "apt-get purge"
left=$(find "$W/root/usr" -name '*heddle*')
[ -z "$left" ] || { echo "$left" > "$W/log"; fail "files are left after purge"; }
echo "  ok    install: purge leaves nothing"
