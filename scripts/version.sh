#!/bin/sh
# The version of the tree in the current folder: file VERSION of a source package, else git's last tag vX.Y and
# what came since (X.Y+COMMITS.gHASH), else 0.0.
if [ -r VERSION ]; then
    cat VERSION
else
    v=$(git describe --tags --match 'v[0-9]*' 2> /dev/null) || v=v0.0
    echo "$v" | sed -e 's/^v//' -e 's/-\([0-9]*\)-g/+\1.g/'
fi
