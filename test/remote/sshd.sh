#!/bin/sh
# Devices by a real sshd at a port of the loopback: usage sshd.sh BUILD STORM, from the top of the
# repository. Everything is in a folder of its own, and ends with this script.
set -u
B=$PWD/$1 STORM=$2
W=$(mktemp -d /tmp/heddle-test-sshd-XXXXXX)
sshd=
trap '[ -z "$sshd" ] || kill "$sshd"; rm -rf "$W"' EXIT
trap 'exit 1' INT TERM
PATH=$PATH:/usr/sbin:/sbin
failed=0
ok() { echo "  ok    remote, sshd: $1"; }
bad() {
    echo "  FAIL  remote, sshd: $1"
    [ -z "${2:-}" ] || cat "$2"
    failed=1
}
export XDG_RUNTIME_DIR="$W" XDG_CACHE_HOME="$W"

[ "$(id -u)" != 0 ] || mkdir -p /run/sshd # where sshd of root wants its empty folder
ssh-keygen -q -t ed25519 -N '' -f "$W/host" && ssh-keygen -q -t ed25519 -N '' -f "$W/user" &&
    ssh-keygen -q -t ed25519 -N '' -f "$W/stranger" || exit 1
cp "$W/user.pub" "$W/allowed"
chmod 700 "$W"
cat > "$W/sshd_config" << END
ListenAddress 127.0.0.1
HostKey $W/host
AuthorizedKeysFile $W/allowed
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
END
for try in 1 2 3 4 5; do # a port that is free
    port=$((20000 + ($$ * 7 + try * 1231) % 20000))
    "$(command -v sshd)" -D -e -f "$W/sshd_config" -p "$port" 2> "$W/sshd.log" &
    sshd=$!
    sleep 1
    kill -0 "$sshd" 2> /dev/null && break
    sshd=
done
[ -n "$sshd" ] || { bad "sshd does not start" "$W/sshd.log"; exit 1; }
echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$W/host.pub")" > "$W/known"
cat > "$W/config" << END
Host localhost
    HostName 127.0.0.1
    Port $port
    IdentityFile $W/user
    IdentitiesOnly yes
    UserKnownHostsFile $W/known
    BatchMode yes
END
serve="env XDG_RUNTIME_DIR=$W XDG_CACHE_HOME=$W $B/heddle serve --stdio"
export HEDDLE_REMOTE_COMMAND="ssh -F $W/config %h $serve"

model=test/models/digits
run() { "$B/heddle" run $model --device "$1" --outputs "$W/$2.npz" --trace "$W/$2.trace" > "$W/$2" 2> "$W/$2.err"; }
# A report but for the name of the device, and for what the clock says.
plain() { sed -e "s#on localhost/iss,#on iss,#" -e '/cycles in /s/ in .*//' -e '/measured on one core/d' "$1"; }
if run iss here && run localhost/iss there && plain "$W/there" > "$W/a" && plain "$W/here" | cmp -s - "$W/a" &&
    cmp -s "$W/here.npz" "$W/there.npz" && sed 's#localhost/iss#iss#g' "$W/there.trace" | cmp -s - "$W/here.trace"
then ok "heddle run $model --device localhost/iss: results, cycles of each layer and trace are those of iss"
else bad "heddle run on localhost/iss" "$W/there.err"; diff "$W/here" "$W/there"; fi
if "$B/heddle" compare $model --devices golden,localhost/iss,localhost/golden > "$W/log" 2>&1
then ok "$(tail -1 "$W/log")"; else bad "compare" "$W/log"; fi
if "$B/heddle" devices localhost 2>&1 | grep -q '^iss  *programs  *yes'; then ok "heddle devices localhost"; else bad "devices"; fi

sed "s#$W/user#$W/stranger#" "$W/config" > "$W/config2"
if HEDDLE_REMOTE_COMMAND="ssh -F $W/config2 %h $serve" run localhost/iss no || ! grep -q 'Permission denied' "$W/no.err"
then bad "a key that is not allowed" "$W/no.err"; else ok "a key that is not allowed: $(head -1 "$W/no.err" | cut -c1-90)..."; fi
if HEDDLE_REMOTE_COMMAND="ssh -F $W/config %h /no/such/heddle serve --stdio" run localhost/iss no ||
    ! grep -q '/no/such/heddle' "$W/no.err"
then bad "no heddle there" "$W/no.err"; else ok "a host without heddle: an error that names it"; fi
if HEDDLE_REMOTE_COMMAND="ssh -F $W/config %h 'echo Welcome; $serve'" run localhost/iss no || ! grep -q "sent 'Welcome" "$W/no.err"
then bad "a login that prints" "$W/no.err"; else ok "a login that prints: an error that shows what"; fi
"$STORM" "$B/heddle" 1000 4 20 "$(date +%s)" "$sshd" || failed=1
exit "$failed"
