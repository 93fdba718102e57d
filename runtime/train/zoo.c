/* The zoo: networks for digits of 8x8 pixels, and for words of 49 spectra of 10 bands. Their widths
 * are numbers behind the name. */
#include <stdlib.h>
#include <string.h>

#include "runtime/train/layers.h"

enum { DIGITS = 10, WORDS = 8 };

/* conv1 -+- res_a - res_b -+- down - pool - dense: the demo's network */
static int residual(struct hd_layers *l, int x, const int64_t *w) {
    x = hd_layer_relu(l, hd_layer_conv(l, x, w[0], 3, 1));
    int y = hd_layer_relu(l, hd_layer_conv(l, x, w[1], 3, 1));
    y = hd_layer_conv(l, y, w[0], 3, 1);
    x = hd_layer_relu(l, hd_layer_add(l, y, x));
    x = hd_layer_relu(l, hd_layer_conv(l, x, w[2], 3, 2));
    return hd_layer_dense(l, hd_layer_pool(l, x), DIGITS);
}

static int perceptron(struct hd_layers *l, int x, const int64_t *w) {
    x = hd_layer_relu(l, hd_layer_dense(l, x, w[0]));
    x = hd_layer_relu(l, hd_layer_dense(l, x, w[1]));
    return hd_layer_dense(l, x, DIGITS);
}

/* Depthwise and pointwise, as MobileNet has them. */
static int pointwise(struct hd_layers *l, int x, const int64_t *w, int64_t stride,
                     int64_t classes) {
    x = hd_layer_relu(l, hd_layer_conv(l, x, w[0], 3, stride));
    for (int i = 0; i < 2; i++) {
        x = hd_layer_relu(l, hd_layer_depthwise(l, x, 3, i + 1));
        x = hd_layer_relu(l, hd_layer_conv(l, x, w[1 + i], 1, 1));
    }
    return hd_layer_dense(l, hd_layer_pool(l, x), classes);
}

static int separable(struct hd_layers *l, int x, const int64_t *w) {
    return pointwise(l, x, w, 1, DIGITS);
}

/* As DS-CNN of Zhang and others (2017), with two blocks. */
static int words(struct hd_layers *l, int x, const int64_t *w) {
    return pointwise(l, x, w, 2, WORDS);
}

enum { WIDTHS = 3, WIDEST = 4096 };

static const struct {
    const char *name;
    int (*build)(struct hd_layers *, int, const int64_t *);
    int64_t width[WIDTHS]; /* 0: it has fewer */
    int64_t size[2];       /* of the input */
    double scale;          /* inputs are up to 1 by it */
} zoo[] = {{"cnn", residual, {16, 16, 32}, {8, 8}, 1.0 / 16},
           {"mlp", perceptron, {64, 64, 0}, {8, 8}, 1.0 / 16},
           {"separable", separable, {16, 16, 32}, {8, 8}, 1.0 / 16},
           {"words", words, {32, 32, 64}, {49, 10}, 1}};

enum { N_ZOO = sizeof zoo / sizeof *zoo };

const char *hd_zoo_name(int i) {
    return i < 0 || i >= N_ZOO ? NULL : zoo[i].name;
}

int hd_zoo_find(const char *name) {
    size_t n = strcspn(name, ":");
    for (int i = 0; i < N_ZOO; i++)
        if (strlen(zoo[i].name) == n && !strncmp(zoo[i].name, name, n)) return i;
    return -1;
}

/* "cnn:16:16:32": all widths, or none. */
static hd_status read_widths(hd_ctx *ctx, const char *name, int i, int64_t *w) {
    const char *s = name + strlen(zoo[i].name);
    int n = 0, want = zoo[i].width[WIDTHS - 1] ? WIDTHS : WIDTHS - 1;
    memcpy(w, zoo[i].width, sizeof zoo[i].width);
    if (!*s) return HD_OK;
    for (char *end = NULL; *s == ':'; s = end) {
        long v = strtol(s + 1, &end, 10);
        if (n == want || v < 1 || v > WIDEST) n = WIDTHS + 1;
        if (n < WIDTHS) w[n++] = v;
    }
    if (n == want && !*s) return HD_OK;
    return hd_fail(ctx, HD_INVALID, "network '%s': want %d widths of 1 to %d, such as %s:16:16%s",
                   name, want, WIDEST, zoo[i].name, want == WIDTHS ? ":32" : "");
}

hd_status hd_zoo_build(hd_ctx *ctx, const char *name, int64_t batch, uint32_t seed,
                       hd_graph **out) {
    static const char *const axes[] = {"N", "C", "H", "W"};
    int64_t w[WIDTHS];
    int i = hd_zoo_find(name);
    if (i < 0)
        return hd_fail(ctx, HD_INVALID,
                       "no network '%s' in the zoo; want a file, cnn, mlp, separable or words",
                       name);
    TRY(read_widths(ctx, name, i, w));
    struct hd_layers l;
    hd_layers_init(&l, ctx, zoo[i].name, seed);
    const int64_t dim[] = {batch, 1, zoo[i].size[0], zoo[i].size[1]};
    int x = hd_layer_scale(&l, hd_layer_input(&l, "image", 4, dim, axes), zoo[i].scale);
    return hd_layers_finish(&l, zoo[i].build(&l, x, w), out);
}
