/* Random networks of convolutions, dense layers and movement, most of whose tensors are int16; what
 * the machine does not take (sums of more than 24 bits, clips between multiples of 256, zero
 * points, other operations) is host work beside it. */
#include "test/random/net.h"
#include "test/random/random.h"

#include <stdlib.h>

#include "runtime/base/num.h"

/* Biases of some 24 bits, about where the machine's sums stop being exact. */
static void large_biases(struct net *x, const struct hd_node *n) {
    const struct hd_tensor *b = &x->g->tensors[n->in[2]], *s = &x->g->tensors[n->in[3]];
    int bits = rng_range(&x->r, 22, 25);
    for (int64_t i = 0; i < hd_tensor_elems(b); i++) {
        int sign = rng_next(&x->r) % 2 ? 1 : -1;
        ((int32_t *)(uintptr_t)b->data)[i] = sign * rng_range(&x->r, 1 << (bits - 1), 1 << bits);
        ((float *)(uintptr_t)s->data)[i] = 30000.0f / (float)(1 << bits);
    }
}

/* The last layer with an operand as it is, and in two of three cases a result of int16. */
static void widen(struct net *x) {
    int y = x->made[x->n_made - 1], node = x->g->tensors[y].producer;
    const struct hd_node *n = &x->g->nodes[node];
    struct hd_tensor *s = &x->g->tensors[n->in[3]];
    bool from = net_shape(x, n->in[0])->dtype == HD_I16, to = rng_next(&x->r) % 3 > 0;
    bool exact = rng_next(&x->r) % 8 > 0;
    float by = (to ? 256.0f : 1.0f) / (from ? 256.0f : 1.0f);
    for (int64_t i = 0; i < hd_tensor_elems(s); i++) ((float *)(uintptr_t)s->data)[i] *= by;
    if (from) hd_attr_set_int(x->g, node, "x_zp", exact ? 0 : rng_range(&x->r, -9, 9));
    if (from && to && rng_next(&x->r) % 3 == 0) large_biases(x, n);
    if (!to) return;
    static const int least[] = {-32768, 0, -256, -1000}, most[] = {32767, 32767, 1000, 255};
    x->g->tensors[y].dtype = HD_I16;
    hd_attr_set_string(x->g, node, "to", "i16");
    hd_attr_set_int(x->g, node, "y_zp", exact ? 0 : 7);
    hd_attr_set_int(x->g, node, "lo", least[rng_range(&x->r, 0, exact ? 2 : 3)]);
    hd_attr_set_int(x->g, node, "hi", most[rng_range(&x->r, 0, 3)]);
}

static hd_graph *generate(uint64_t seed, int n_layers, bool small) {
    struct net x = {.r = {seed * 7919 + 3}, .g = hd_graph_create()};
    int made[64], most = small ? 8 : 20;
    int64_t dim[4] = {rng_next(&x.r) % 6 ? 1 : 2, rng_range(&x.r, 1, 50), rng_range(&x.r, 1, most),
                      rng_range(&x.r, 1, most)};
    x.made = made;
    int in = hd_graph_tensor(x.g, "x", rng_next(&x.r) % 2 ? HD_I16 : HD_I8, 4, dim);
    hd_graph_input(x.g, in);
    x.made[x.n_made++] = in;
    for (int i = 0; i < n_layers; i++) {
        int from = x.made[x.n_made - 1], before = x.n_made;
        if (rng_next(&x.r) % 3 == 0 || net_shape(&x, from)->rank > 4) {
            net_move(&x, from);
            continue;
        }
        if (net_shape(&x, from)->rank < 4 || (i + 1 == n_layers && rng_next(&x.r) % 2))
            net_dense(&x, from);
        else
            net_conv(&x, from);
        if (x.n_made > before) widen(&x);
    }
    hd_graph_output(x.g, x.made[x.n_made - 1]);
    if (rng_next(&x.r) % 3 == 0 && x.n_made > 2) hd_graph_output(x.g, x.made[x.n_made - 2]);
    return x.g;
}

int main(int argc, char **argv) {
    static const struct random_kind kind = {
        .name = "random_wide", .most_layers = 5, .generate = generate};
    return random_main(argc, argv, &kind);
}
