#!/bin/sh
# scripts/version.sh: a tag, commits behind it, no tag, a source package.
set -u
script=$PWD/scripts/version.sh
W=$(mktemp -d /tmp/heddle-version-XXXXXX)
trap 'rm -rf "$W"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a
cd "$W" || exit 1
want() {
    got=$("$script")
    case $got in $1) ;; *) echo "  FAIL  version: $2: $got, want $1" >&2; exit 1 ;; esac
}
want 0.0 "no repository"
git init -q . && git commit -q --allow-empty -m one && git tag v1.2 && git tag other
want 1.2 "a tag"
git commit -q --allow-empty -m two
want '1.2+1.g???????*' "a commit behind it"
echo 3.4 > VERSION
want 3.4 "a source package"
echo "  ok    version: of a tag, behind it, of a source package"
