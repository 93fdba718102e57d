SRCS += compiler/compiler.c \
        compiler/tile/partition.c compiler/tile/tensorize.c compiler/tile/tiling.c compiler/tile/pixels.c \
        compiler/tile/layout.c compiler/tile/move.c compiler/tile/transposed.c compiler/tile/share.c compiler/tile/cost.c \
        compiler/tile/rows.c compiler/tile/recurrent.c \
        compiler/mem/plan.c compiler/mem/refine.c compiler/mem/chain.c \
        compiler/sched/lower.c compiler/sched/matmul.c compiler/sched/vector.c compiler/sched/mean.c compiler/sched/moves.c compiler/sched/rows.c compiler/sched/recurrent.c \
        compiler/sched/deps.c compiler/sched/estimate.c compiler/sched/encode.c \
        compiler/emit/model.c compiler/emit/bundle.c compiler/emit/bundle_host.c \
        compiler/query/parse.c compiler/query/match.c $(wildcard compiler/export/*.c compiler/quantize/*.c)
