/* Loops as LLVM IR in text, for processors: vectors, and sums that stay in registers.
 *
 *   define void @NAME_<part>(ptr %args, i64 %begin, i64 %end)
 *
 * Each statement of the nest that stands alone is a part; they run in order. args[t] is where
 * tensor t of the nest lies; a buffer that a loop fills is the function's own. A loop that is
 * marked parallel runs from begin to end: its iterations may be dealt out. Loops marked vectorize
 * are vectors, those marked unroll are copies; an innermost loop of neighbours becomes vectors by
 * itself.
 */
#ifndef HD_LOOP_LLVM_H
#define HD_LOOP_LLVM_H

#include "compiler/loop/loop.h"

struct hd_loop_part {
    int64_t iterations; /* of the parallel loop; 1 = there is none */
    int once;           /* the parameter that it copies, and nothing else; -1 = it is no copy */
};

struct hd_loop_llvm {
    const char *text; /* the arena's */
    struct hd_loop_part *part;
    int n_parts;
};

/* lanes: f32 of a vector register. Errors: HD_UNSUPPORTED for what is not printed so: gathers, arg
 * reductions, f16, conversions from floats to integers; functions but max, min and those that are
 * one instruction; buffers of more than 256 KiB in a loop. */
hd_status hd_loop_llvm(hd_ctx *ctx, hd_arena *a, const struct hd_nest *n, const char *name,
                       int lanes, struct hd_loop_llvm *out);

#endif
