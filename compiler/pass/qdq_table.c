/* quantize(f(dequantize(x))) -> qtable, for any elementwise function f of one tensor. */
#include "compiler/pass/cone.h"
#include "compiler/pass/qdq.h"
#include "runtime/base/num.h"

bool hd_qdq_table(hd_ctx *ctx, hd_graph *g, int q) {
    struct hd_qparam x, y;
    int value = g->nodes[q].in[0], root = hd_cone_root(g, value, NULL), in[2];
    if (root == value || !hd_qdq_param(g, &g->nodes[q], &y) ||
        !hd_qdq_dequantized(g, root, &in[0], &x))
        return false;
    float v[256], f[256];
    uint8_t table[256];
    int min = y.type == HD_I8 ? -128 : 0;
    for (int i = 0; i < 256; i++)
        v[i] = (float)((x.type == HD_I8 ? (int8_t)i : i) - x.zp) * x.scale;
    if (hd_cone_eval(ctx, g, value, root, v, 256, f) != HD_OK) { /* no kernel: it stays float */
        hd_clear(ctx);
        return false;
    }
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)hd_requant(f[i] / y.scale, y.zp, min, min + 255);
    int maker = g->tensors[value].producer, out = g->nodes[q].out[0];
    const char *name = g->nodes[maker].name;
    in[1] = hd_graph_const(g, hd_sprintf(g->arena, "%s.table", name), y.type, 1, (int64_t[]){256},
                           table);
    hd_graph_kill(g, q);
    int id = hd_graph_node(g, HD_IR_qtable, name, 2, in, 1, &out);
    hd_graph_swap_names(g, id, maker);
    return true;
}
