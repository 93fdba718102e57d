/* The zoo: networks for digits of 8x8 pixels. */
#include <string.h>

#include "runtime/train/layers.h"

/* conv1 -+- res_a - res_b -+- down - pool - dense: the demo's network */
static int residual(struct hd_layers *l, int x) {
    x = hd_layer_relu(l, hd_layer_conv(l, x, 16, 3, 1));
    int y = hd_layer_relu(l, hd_layer_conv(l, x, 16, 3, 1));
    y = hd_layer_conv(l, y, 16, 3, 1);
    x = hd_layer_relu(l, hd_layer_add(l, y, x));
    x = hd_layer_relu(l, hd_layer_conv(l, x, 32, 3, 2));
    return hd_layer_dense(l, hd_layer_pool(l, x), 10);
}

static int perceptron(struct hd_layers *l, int x) {
    x = hd_layer_relu(l, hd_layer_dense(l, x, 64));
    x = hd_layer_relu(l, hd_layer_dense(l, x, 64));
    return hd_layer_dense(l, x, 10);
}

/* Depthwise and pointwise, as MobileNet has them. */
static int separable(struct hd_layers *l, int x) {
    x = hd_layer_relu(l, hd_layer_conv(l, x, 16, 3, 1));
    for (int i = 0; i < 2; i++) {
        x = hd_layer_relu(l, hd_layer_depthwise(l, x, 3, i + 1));
        x = hd_layer_relu(l, hd_layer_conv(l, x, 16 * (i + 1), 1, 1));
    }
    return hd_layer_dense(l, hd_layer_pool(l, x), 10);
}

static const struct {
    const char *name;
    int (*build)(struct hd_layers *, int);
} zoo[] = {{"cnn", residual}, {"mlp", perceptron}, {"separable", separable}};

enum { N_ZOO = sizeof zoo / sizeof *zoo };

const char *hd_zoo_name(int i) {
    return i < 0 || i >= N_ZOO ? NULL : zoo[i].name;
}

hd_status hd_zoo_build(hd_ctx *ctx, const char *name, int64_t batch, uint32_t seed,
                       hd_graph **out) {
    static const char *const axes[] = {"N", "C", "H", "W"};
    int i = 0;
    while (i < N_ZOO && strcmp(zoo[i].name, name) != 0) i++;
    if (i == N_ZOO)
        return hd_fail(ctx, HD_INVALID,
                       "no network '%s' in the zoo; want a file, cnn, mlp or separable", name);
    struct hd_layers l;
    hd_layers_init(&l, ctx, name, seed);
    int x = hd_layer_input(&l, "image", 4, (int64_t[]){batch, 1, 8, 8}, axes);
    x = hd_layer_scale(&l, x, 1.0 / 16);
    return hd_layers_finish(&l, zoo[i].build(&l, x), out);
}
