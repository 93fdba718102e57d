/* Functions of one byte that are part of the layer in front of them: its bytes pass through a table
 * on their way to XM, which costs no pass of VX.
 *
 * needs: which nodes run as layers of the machine
 * gives: lo->joined: tables and rescalings whose operand nobody else reads, behind a layer that
 * writes its bytes by one operation; of several one behind the other all, as one table destroys:
 * nothing
 */
#include <string.h>

#include "compiler/kind/kinds.h"
#include "runtime/base/num.h"

/* The node behind a tensor that is part of the layer that makes it; -1 = none. */
static int joined_behind(const struct hd_lowering *lo, int tensor) {
    int user = hd_graph_only_user(lo->g, tensor);
    return user >= 0 && lo->joined[user] ? user : -1;
}

int hd_joined_result(const struct hd_lowering *lo, int tensor) {
    for (int node; (node = joined_behind(lo, tensor)) >= 0;) tensor = lo->g->nodes[node].out[0];
    return tensor;
}

static bool may_join(const struct hd_lowering *lo, const struct hd_node *n, const bool *machine) {
    const hd_graph *g = lo->g;
    int x = n->in[0], maker = g->tensors[x].producer;
    if (maker < 0 || !machine[maker] || hd_graph_only_user(g, x) < 0) return false;
    const struct hd_node *m = &g->nodes[maker];
    bool keeps = lo->opt->keep_all || hd_name_listed(&lo->opt->keep, m->name);
    return hd_kind_of(g, m)->joins && m->n_out == 1 && !keeps && lo->share[x].base < 0 &&
           lo->rows[x] == lo->rows[n->out[0]];
}

void hd_choose_joined(struct hd_lowering *lo, const bool *machine) {
    for (size_t i = 0; i < lo->g->n_nodes; i++) {
        const struct hd_node *n = &lo->g->nodes[i];
        if (!n->dead && machine[i] && (n->op == HD_IR_qtable || n->op == HD_IR_qrescale))
            lo->joined[i] = may_join(lo, n, machine);
    }
}

void hd_set_table(struct hd_lowering *lo, struct hd_layer *l, const uint8_t *table) {
    l->y.table = true;
    l->y.table_at = hd_image_reserve(lo, HD_TM_WORD_BYTES);
    memcpy(lo->image + l->y.table_at, table, HD_TM_WORD_BYTES);
    l->weight_bytes += HD_TM_WORD_BYTES;
}

/* What the node makes of each byte. */
static void bytes_of(const hd_graph *g, const struct hd_node *n, uint8_t out[HD_TM_WORD_BYTES]) {
    bool is_unsigned = g->tensors[n->in[0]].dtype == HD_U8;
    if (n->op == HD_IR_qtable) {
        memcpy(out, g->tensors[n->in[1]].data, HD_TM_WORD_BYTES);
        return;
    }
    for (int i = 0; i < HD_TM_WORD_BYTES; i++) {
        int32_t x = (is_unsigned ? i : (int8_t)i) - (int32_t)hd_attr_int(n, "x_zp", 0);
        out[i] = (uint8_t)hd_requant(
            (float)x * hd_attr_float(n, "scale", 1), (int32_t)hd_attr_int(n, "y_zp", 0),
            (int32_t)hd_attr_int(n, "lo", -128), (int32_t)hd_attr_int(n, "hi", 127));
    }
}

void hd_join(struct hd_lowering *lo, struct hd_layer *l, int tensor) {
    uint8_t table[HD_TM_WORD_BYTES];
    for (int node; (node = joined_behind(lo, tensor)) >= 0; tensor = lo->g->nodes[node].out[0]) {
        bytes_of(lo->g, &lo->g->nodes[node], table);
        if (!l->y.table) {
            hd_set_table(lo, l, table);
            continue;
        }
        uint8_t *bytes = lo->image + l->y.table_at;
        for (int i = 0; i < HD_TM_WORD_BYTES; i++) bytes[i] = table[bytes[i]];
    }
}
