/* Groups of nodes that become one compiled loop: what cpu_loops.c (which nodes, which memory) and
 * cpu_expr.c (a node as instructions) share. */
#ifndef HD_CPU_REF_CPU_LOOPS_H
#define HD_CPU_REF_CPU_LOOPS_H

#include "cpu_ref/cpu_plan.h"
#include "cpu_ref/jit_api.h"

enum { HD_LOOP_VALUES = 96 };

struct hd_loop_ptr { /* one pointer of the program */
    int tensor;      /* -1: data */
    const void *data;
    bool out, truth;
    int64_t stride[HD_MAX_RANK]; /* elements, per dimension of the group */
};

struct hd_loop_group {
    struct hd_cpu_plan *p;
    int rank;
    int64_t dim[HD_MAX_RANK]; /* what the loops run over */
    int red;                  /* trailing dimensions that reductions run over, 0 = none yet */
    const void *md;           /* not NULL: flat, over oneDNN's layout */
    struct hd_jit_program prog;
    struct hd_loop_ptr ptr[HD_JIT_PTRS];
    int n_values;
    struct {
        int tensor, ins;
        bool made, alone; /* by the group; alone: its shape fits no other node of the group */
    } value[HD_LOOP_VALUES];
    int nodes[HD_LOOP_VALUES], n_nodes;
};

/* Adds node's instructions; false when it does not fit (the group is then spoilt: use a copy). */
bool hd_loop_add(struct hd_loop_group *g, int node);
/* True when the node's kind can be in a loop at all. */
bool hd_loop_knows(const struct hd_cpu_plan *p, int node);
/* The instruction that gives tensor t's value, -1 when it cannot be had. */
int hd_loop_value(struct hd_loop_group *g, int tensor);
/* A new instruction; -1 when there is no room. Operands -1 spread. */
int hd_loop_ins(struct hd_loop_group *g, enum hd_jit_op op, int a, int b, int c);
/* A pointer to constant f32 data with strides. */
int hd_loop_data(struct hd_loop_group *g, const float *data, const int64_t *stride);
bool hd_loop_row_shape(const struct hd_loop_group *g, const struct hd_tensor *t);

#endif
