# RUN: (CUDA_VISIBLE_DEVICES= heddle tune 8x8x8 --device cuda --db build/tune_cuda.db; echo exit $?) 2>&1 | sed 's/available: .* \(driver\|GPU\).*/available: REASON/'
#= heddle tune: device cuda: not available: REASON
#= exit 1
