# RUN: heddle train mlp --data test/data/digits.npz --set epoch=3
# EXIT: 1
#= heddle train: --set epoch=3: want NAME=VALUE with one of optimizer, schedule, checkpoint, events, precision, epochs, batch, shards, seed, held_out, shift, rate, momentum, decay2, weight_decay, clip_norm, clip_value, warm_up, factor, every, ranges, loss_scale, scale_steps, word
