/* What the step makers of integer operations share: cpu_quant.c, cpu_quant_rows.c,
 * cpu_quant_phases.c, cpu_quant_rnn.c. */
#ifndef HD_CPU_REF_CPU_QUANT_H
#define HD_CPU_REF_CPU_QUANT_H

#include "cpu_ref/cpu_int8.h"
#include "cpu_ref/cpu_plan.h"

/* What a thread is given to do its share of a step. */
struct hd_cpu_share {
    const struct hd_cpu_run *r;
    const struct hd_cpu_step *s;
};

static inline const struct hd_tensor *hd_cpu_tensor(const struct hd_cpu_plan *p, int id) {
    return &p->g->tensors[id];
}

static inline bool hd_cpu_is_byte(const struct hd_tensor *t) {
    return t->dtype == HD_I8 || t->dtype == HD_U8;
}

/* A byte less it still fits int16, with room. */
static inline bool hd_cpu_small_zp(int64_t zp) {
    return zp >= -512 && zp <= 512;
}

/* Output part of the attributes; false when they leave the type's range. */
bool hd_cpu_q_out(const struct hd_cpu_plan *p, const struct hd_node *n, struct hd_q_out *o);
/* The attributes of an elementwise pair whose operands are bytes; `swap`: operand 1 becomes a. A
 * product's scale is that of a. */
bool hd_cpu_q_pair(const struct hd_cpu_plan *p, const struct hd_node *n, bool swap,
                   struct hd_q_sum *s);
/* The form that costs least: channels last when an operand already lies so. */
struct hd_cpu_form hd_cpu_cheapest(const struct hd_cpu_plan *p, const struct hd_node *n);
/* The scales of all n channels; one may stand for all. NULL = not constant, or not finite. */
const float *hd_cpu_q_scales(struct hd_cpu_plan *p, int id, int64_t n);

/* All of a convolution or product but its window and groups; false: no kernel takes it. */
bool hd_cpu_q_conv(struct hd_cpu_plan *p, const struct hd_node *n, struct hd_q_conv_desc *d);

/* Step makers behind hd_cpu_int8. */
hd_status hd_cpu_q_rows(struct hd_cpu_plan *p, int node, bool *out_taken);
hd_status hd_cpu_q_phases(struct hd_cpu_plan *p, int node, bool *out_taken);
hd_status hd_cpu_q_recurrent(struct hd_cpu_plan *p, int node, bool *out_taken);

#endif
