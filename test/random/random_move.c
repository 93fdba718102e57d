/* Random movement of data alone, of sizes at which the machine turns blocks: a transpose of a
 * tensor of up to 100,000 bytes, or groups of an image's channels as rows, then moves of any kind
 * (net_move.c), compiled and run on a machine device (random.h). */
#include <stdlib.h>

#include "test/random/net.h"
#include "test/random/random.h"

/* A convolution, so that it is an image, and a norm over each group of its channels. */
static void groups_of_image(struct net *x) {
    int64_t h = 4 * rng_range(&x->r, 1, 5), w = 4 * rng_range(&x->r, 1, 5);
    int64_t dim[4] = {rng_range(&x->r, 1, 2), rng_range(&x->r, 1, 20), h, w};
    int64_t groups = rng_range(&x->r, 1, 9), of_group = rng_range(&x->r, 1, 5);
    int t = hd_graph_tensor(x->g, "x", net_byte_type(x), 4, dim), reshape;
    hd_graph_input(x->g, t);
    net_conv_of(x, t, (int)(groups * of_group), 1, 1);
    t = x->made[x->n_made - 1];
    int64_t pixels = net_shape(x, t)->dim[2] * net_shape(x, t)->dim[3];
    int64_t rows[3] = {dim[0], groups, of_group * pixels};
    t = net_add(x, HD_IR_reshape, 1, &t, net_shape(x, t)->dtype, 3, rows, &reshape);
    hd_attr_set_ints(x->g, reshape, "shape", 3, rows);
    net_layer_norm(x, t);
}

static hd_graph *generate(uint64_t seed, int layers, bool small) {
    struct net x = {{seed * 7919 + 5}, hd_graph_create(), malloc(sizeof(int) * 64), 0};
    if (seed % 5 == 2) {
        groups_of_image(&x);
        hd_graph_output(x.g, x.made[x.n_made - 1]);
        free(x.made);
        return x.g;
    }
    int64_t dim[4], left = small ? 3000 : 100000;
    int rank = rng_range(&x.r, 2, 4);
    for (int i = 0; i < rank; i++) {
        bool first = i == 0 && rank > 2; /* images: few */
        dim[i] = first ? rng_range(&x.r, 1, 3) : rng_range(&x.r, 1, rng_next(&x.r) % 3 ? 70 : 300);
        if (dim[i] > left) dim[i] = left;
        left /= dim[i];
    }
    int t = hd_graph_tensor(x.g, "x", net_byte_type(&x), rank, dim);
    hd_graph_input(x.g, t);
    x.made[x.n_made++] = t;
    net_rescale(&x, t); /* a layer on either side: the host does what moves at the border */
    t = x.made[x.n_made - 1];
    int64_t perm[4] = {0, 1, 2, 3}, turned[4];
    for (int i = rank - 1; i > 0; i--) {
        int k = rng_range(&x.r, 0, i);
        int64_t p = perm[i];
        perm[i] = perm[k], perm[k] = p;
    }
    for (int i = 0; i < rank; i++) turned[i] = dim[perm[i]];
    int node, y = net_add(&x, HD_IR_transpose, 1, &t, x.g->tensors[t].dtype, rank, turned, &node);
    hd_attr_set_ints(x.g, node, "perm", rank, perm);
    for (int i = 1; i < layers; i++) {
        net_move(&x, y);
        y = x.made[x.n_made - 1];
    }
    net_rescale(&x, y);
    hd_graph_output(x.g, x.made[x.n_made - 1]);
    free(x.made);
    return x.g;
}

int main(int argc, char **argv) {
    static const struct random_kind kind = {
        .name = "random_move", .most_layers = 4, .generate = generate};
    return random_main(argc, argv, &kind);
}
