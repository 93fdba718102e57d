/* Error bounds: see cpu_bounds.h. */
#include "cpu_ref/cpu_bounds.h"

struct hd_cpu_bound hd_cpu_bound_of(enum hd_ir_op op) {
    switch (op) {
#define BOUND(name, relative, of_largest)                                                          \
    case HD_IR_##name:                                                                             \
        return (struct hd_cpu_bound){relative, of_largest};
#include "cpu_ref/cpu_bounds.def"
    default:
        return (struct hd_cpu_bound){HD_BOUND_RELATIVE, HD_BOUND_OF_LARGEST};
    }
}

struct hd_cpu_bound hd_cpu_bound_in(enum hd_ir_op op, enum hd_precision precision) {
    static const struct hd_cpu_bound of[HD_PRECISIONS] = {
#define PRECISION(name, relative, of_largest) {relative, of_largest},
#include "runtime/device/precision.def"
    };
    struct hd_cpu_bound b = hd_cpu_bound_of(op);
    b.relative += of[precision].relative;
    b.of_largest += of[precision].of_largest;
    return b;
}

struct hd_cpu_bound hd_cpu_bound_to(const hd_graph *g, int t) {
    struct hd_cpu_bound sum = {0, 0};
    hd_arena *a = hd_arena_create();
    bool *seen = hd_new_array(a, bool, g->n_nodes + 1);
    int *todo = hd_new_array(a, int, g->n_nodes + 1), n = 0;
    for (int p = g->tensors[t].producer; p >= 0; p = n ? todo[--n] : -1) {
        const struct hd_node *node = &g->nodes[p];
        struct hd_cpu_bound b = hd_cpu_bound_of(node->op);
        seen[p] = true;
        sum.relative += b.relative;
        sum.of_largest += b.of_largest;
        for (int i = 0; i < node->n_in; i++) {
            int from = node->in[i] < 0 ? -1 : g->tensors[node->in[i]].producer;
            if (from >= 0 && !seen[from]) seen[from] = true, todo[n++] = from;
        }
    }
    hd_arena_destroy(a);
    return sum;
}
