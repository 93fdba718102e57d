#!/bin/sh
# A build of a model says how far it is (scripts/with_progress.sh), ends with the command, and keeps its exit status.
W=$(mktemp -d /tmp/heddle-progress-XXXXXX)
trap 'rm -rf "$W"' EXIT
touch "$W/a.cpp" "$W/b.cpp" "$W/old.o"
sleep 0.1
EVERY=1 scripts/with_progress.sh "$W" build/rtl/x sh -c "sleep 1.5; touch $W/a.o; sleep 1; echo noise; exit 3" 3> "$W/said" > "$W/log"
rc=$?
printf '  VLT   build/rtl/x: reading the RTL, 1 s\n  VLT   build/rtl/x: 1 of 6 files compiled, 2 s\n' > "$W/want"
if [ "$rc" != 3 ] || [ "$(cat "$W/log")" != noise ] || ! cmp -s "$W/said" "$W/want"; then
    echo "  FAIL  progress of a model's build: exit status $rc, said:"
    cat "$W/said"
    exit 1
fi
echo "  ok    a model's build says how far it is"
