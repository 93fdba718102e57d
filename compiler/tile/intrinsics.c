/* The table of intrinsics as data; what emits them is in sched/lower.c. */
#include "compiler/tile/layer.h"
#include "runtime/base/num.h"

#define INTRINSIC(kind, operations, expression, memories, cycles, emit)                            \
    static int64_t cycles_##kind(const struct hd_layer *l) {                                       \
        return cycles;                                                                             \
    }
#include "compiler/tile/intrinsics.def"

const struct hd_intrinsic hd_intrinsics[HD_LAYER_KINDS] = {
#define INTRINSIC(kind, operations, expression, memories, cycles, emit)                            \
    [HD_LAYER_##kind] = {operations, expression, memories, cycles_##kind},
#include "compiler/tile/intrinsics.def"
};
