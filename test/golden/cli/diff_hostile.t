# Values of other kinds than a run's are as if they were not there.
# RUN: d=$(mktemp -d); echo '{"cycles": "x", "layers": [null, 3, {"name": null, "cycles": 4}]}' > $d/a; echo '{"layers": {"name": 1}}' > $d/b; heddle diff $d/a $d/a 2>&1 | sed "s|$d|DIR|g"; heddle diff $d/a $d/b 2>&1 | sed "s|$d|DIR|g"; rm -r $d
#= cycles 0, then 0: +0.00 %
#=
#= layer  cycles  then  by  along with
#=             4     0  -4  only in the first
#=             0     4  +4  only in the second
#=             0     0  +0  only in the second
#=             0     0  +0  only in the first
#=             0     0  +0  only in the second
#=             0     0  +0  only in the second
#= heddle diff: DIR/b: no layers in it; want what heddle run --json or --report wrote, an .hdl file, or a machine
