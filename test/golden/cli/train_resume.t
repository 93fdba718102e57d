# RUN: d=$(mktemp -d); t="heddle train mlp --data test/data/digits.npz --set epochs=1"; $t --shards 4 --set checkpoint=$d/c | sed -n 's/.*, //p'; $t --shards 4 --resume $d/c | grep -o 'goes on.*'; $t --shards 2 --resume $d/none 2>&1 | sed "s,$d,D,"; rm -r $d; for a in "--shards 3" "--shards 0"; do $t $a; done; heddle train ring --shards 2
# EXIT: 1
#= 44 steps of 32 samples in 4 shards on cpu
#= goes on behind step 44
#= heddle train: D/none: cannot open: No such file or directory
#= heddle train: batch=32 is no multiple of shards=3: change one of them by --set
#= heddle train: --shards: got '0', want a whole number from 1 to 1024; see heddle train --help
#= heddle train: task ring: --shards, --resume and --memory are for networks with --data
