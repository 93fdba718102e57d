/* Random networks: legal graphs of quantised operations, compiled and run on a machine device
 * (random.h). The generator knows the operations' rules from docs/numerics.md, not the compiler's
 * limits: whatever the compiler leaves to the host must come out right, too. */
#include "test/random/net.h"
#include "test/random/random.h"

static hd_graph *generate(uint64_t seed, int n_layers, bool small) {
    struct net x = {.r = {seed * 7919 + 1}, .g = hd_graph_create()};
    int most = small ? 10 : 30; /* pixels a side */
    int64_t dim[4] = {rng_next(&x.r) % 8 ? 1 : 2, rng_range(&x.r, 1, seed % 3 ? 40 : 4),
                      rng_range(&x.r, 1, most), rng_range(&x.r, 1, most)};
    int all[256];
    bool flat = rng_next(&x.r) % 5 == 0, chains = seed % 5 == 1; /* flat: one-dimensional */
    if (flat) dim[2] = rng_range(&x.r, 1, 60);
    if (chains) dim[0] = 1, dim[2] = rng_range(&x.r, 8, 60), dim[3] = rng_range(&x.r, 8, 60);
    x.made = all;
    int in = hd_graph_tensor(x.g, "x", net_byte_type(&x), 4 - flat, dim);
    hd_graph_input(x.g, in);
    x.made[x.n_made++] = in;
    for (int i = 0; i < n_layers; i++) {
        int from = x.made[x.n_made - 1];
        if (rng_next(&x.r) % 5 == 0) from = x.made[rng_range(&x.r, 0, x.n_made - 1)];
        int rank = net_shape(&x, from)->rank;
        bool image = rank == 4 || rank == 3;
        if (i > 0 && rng_next(&x.r) % 3 == 0) {
            net_move(&x, from);
            continue;
        }
        int pick = seed % 3 == 0 && i == 0
                       ? 7
                       : (int)(rng_next(&x.r) % 8); /* few channels: first a convolution */
        if (seed % 4 == 2 && rank == 4 && i % 3 == 1) {
            rng_next(&x.r) % 3 ? net_branches(&x, from) : net_dense_block(&x, from);
        } else if (chains && rank == 4 && i % 3 == 0) {
            net_block(&x, from);
            i += 2;
        } else if (pick == 0)
            net_residual(&x, from);
        else if (pick == 1)
            rng_next(&x.r) % 2 ? net_rescale(&x, from) : net_table(&x, from);
        else if (rng_next(&x.r) % 10 == 0)
            net_recurrent(&x, from);
        else if (rng_next(&x.r) % 6 == 0)
            rng_next(&x.r) % 2 ? net_softmax(&x, from) : net_layer_norm(&x, from);
        else if (rng_next(&x.r) % 8 == 0 && hd_tensor_elems(net_shape(&x, from)) < 20000)
            rng_next(&x.r) % 2 ? net_products(&x, from) : net_attention(&x, from);
        else if (!image || (rank == 4 && pick == 2 && i + 1 == n_layers))
            rank <= 4 ? net_dense(&x, from) : net_rescale(&x, from);
        else if (pick == 2 && rank == 4)
            net_mean(&x, from);
        else if (pick == 3 && rng_next(&x.r) % 3 == 0 &&
                 hd_tensor_elems(net_shape(&x, from)) < 20000)
            net_linear(&x, from);
        else if (pick == 3 || pick == 4)
            net_pool(&x, from, pick == 4);
        else if (rng_next(&x.r) % 4 == 0 && hd_tensor_elems(net_shape(&x, from)) < 8000)
            net_conv_transposed(&x, from);
        else
            net_conv(&x, from);
        for (int last = x.made[x.n_made - 1]; rng_next(&x.r) % 5 == 0; last = x.made[x.n_made - 1])
            rng_next(&x.r) % 3 ? net_table(&x, last) : net_rescale(&x, last);
    }
    hd_graph_output(x.g, x.made[x.n_made - 1]);
    if (rng_next(&x.r) % 3 == 0 && x.n_made > 2) hd_graph_output(x.g, x.made[x.n_made - 2]);
    return x.g;
}

int main(int argc, char **argv) {
    static const struct random_kind kind = {
        .name = "random_net", .most_layers = 9, .generate = generate};
    return random_main(argc, argv, &kind);
}
