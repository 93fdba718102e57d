/* What golden makes of a graph of bytes: passes keep it. */
#ifndef HD_TEST_GOLDEN_BYTES_H
#define HD_TEST_GOLDEN_BYTES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_ref/golden.h"

/* The only result on some bytes, at most `most` of them; how many. */
static inline size_t golden_bytes(hd_ctx *ctx, const hd_graph *g, int8_t *out, size_t most) {
    hd_arena *a = hd_arena_create();
    struct hd_tensor *t = hd_golden_tensors(g, a), *x = &t[g->inputs[0]];
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order), bytes = hd_tensor_bytes(x);
    int8_t *v = hd_new_array(a, int8_t, bytes);
    for (size_t i = 0; i < bytes; i++) v[i] = (int8_t)(i * 53 % 251 - 125);
    x->data = v, x->known = true;
    if (hd_golden_eval(ctx, g, order, n, t, a) != HD_OK) fail_msg("%s", hd_message(ctx));
    bytes = hd_tensor_bytes(&t[g->outputs[0]]);
    assert_true(bytes > 0 && bytes <= most);
    memcpy(out, t[g->outputs[0]].data, bytes);
    hd_arena_destroy(a);
    return bytes;
}

#endif
