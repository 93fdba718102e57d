# RUN: t=$(mktemp) && heddle run test/models/digits --machine tiny --keep 'qconv[kernel_shape="3,3"] > qadd' --outputs $t.npz > /dev/null && python3 -m zipfile -l $t.npz | awk '{ print $1 }'; rm -f $t $t.npz
#= File
#= logits.npy
#= dense_q.npy
#= res_add_q.npy
