#!/bin/sh
# A build of a model says how far it is (scripts/with_progress.sh), ends with the command, and keeps its exit status.
W=$(mktemp -d /tmp/heddle-progress-XXXXXX)
trap 'rm -rf "$W"' EXIT
touch "$W/a.cpp" "$W/b.cpp" "$W/old.o"
sleep 0.1
# Each step waits until the one before was said, 20 s at most, so that a busy computer changes nothing but the seconds.
cat > "$W/build.sh" <<'END'
heard() { for _ in $(seq 200); do grep -q "$1" "$W/said" && return; sleep 0.1; done; }
heard reading; touch "$W/a.o"; heard "1 of 6"; echo noise; exit 3
END
W=$W EVERY=1 scripts/with_progress.sh "$W" build/rtl/x sh "$W/build.sh" 3> "$W/said" > "$W/log"
rc=$?
printf '  VLT   build/rtl/x: reading the RTL\n  VLT   build/rtl/x: 1 of 6 files compiled\n' > "$W/want"
if [ "$rc" != 3 ] || [ "$(cat "$W/log")" != noise ] || ! sed 's/, [0-9]* s$//' "$W/said" | uniq | cmp -s - "$W/want"; then
    echo "  FAIL  progress of a model's build: exit status $rc, said:"
    cat "$W/said"
    exit 1
fi
echo "  ok    a model's build says how far it is"
