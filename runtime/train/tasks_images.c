/* Tasks on images and points: textures, bars, ring. */
#include <math.h>
#include <string.h>

#include "runtime/train/task.h"

static const char *const image_axes[] = {"N", "C", "H", "W"};

/* ---- textures: a ResNet of three stages ----------------------------------------------------- */

enum { SIDE = 16, TEXTURES = 8 };

int hd_build_textures(struct hd_layers *l, int64_t batch, int *out) {
    int x = hd_layer_input(l, "image", 4, (int64_t[]){batch, 1, SIDE, SIDE}, image_axes);
    int classes = hd_layer_integers(l, "classes", 1, &batch, image_axes);
    x = hd_layer_relu(l, hd_layer_conv_norm(l, x, 8, 3, 1));
    x = hd_layer_residual(l, x, 8, 1);
    x = hd_layer_residual(l, x, 16, 2);
    x = hd_layer_residual(l, x, 32, 2);
    x = hd_layer_dense(l, hd_layer_pool(l, x), TEXTURES);
    out[0] = hd_loss_classes(l, x, classes);
    out[1] = hd_metric_right(l, x, classes);
    return 2;
}

/* Waves of 4 directions and 2 lengths, anywhere, under noise. */
void hd_make_textures(struct hd_dice *d, int64_t batch, void *const *in) {
    float *x = in[0];
    int64_t *classes = in[1];
    for (int64_t i = 0; i < batch; i++) {
        uint32_t k = hd_dice_below(d, TEXTURES);
        double angle = 0.7853981633974483 * (k % 4), length = k < 4 ? 3 : 5;
        double dx = cos(angle) / length, dy = sin(angle) / length;
        double at = hd_dice_below(d, 1024) / 1024.0;
        classes[i] = k;
        for (int p = 0; p < SIDE * SIDE; p++) {
            double turn = at + p % SIDE * dx + p / SIDE * dy;
            x[i * SIDE * SIDE + p] =
                (float)sin(6.283185307179586 * turn) + 0.7f * hd_dice_normal(d);
        }
    }
}

double hd_score_textures(int64_t batch, const void *const *in, const void *const *out) {
    (void)in;
    return (double)*(const float *)out[1] / (double)batch;
}

/* ---- bars: an autoencoder ------------------------------------------------------------------- */

enum { BARS_SIDE = 8, BARS_PIXELS = BARS_SIDE * BARS_SIDE };

int hd_build_bars(struct hd_layers *l, int64_t batch, int *out) {
    int64_t dim[4] = {batch, 1, BARS_SIDE, BARS_SIDE};
    int image = hd_layer_input(l, "image", 4, dim, image_axes);
    int x = hd_layer_gelu(l, hd_layer_conv(l, image, 8, 3, 2));
    x = hd_layer_gelu(l, hd_layer_conv(l, x, 16, 3, 2));
    x = hd_layer_dense(l, x, 16); /* the code */
    x = hd_layer_gelu(l, hd_layer_dense(l, x, 64));
    x = hd_b_reshape(&l->b, x, 4, (int64_t[]){batch, 16, 2, 2});
    x = hd_layer_gelu(l, hd_layer_transposed(l, x, 16, 3, 2));
    x = hd_layer_sigmoid(l, hd_layer_transposed(l, x, 1, 3, 2));
    out[0] = hd_loss_square(l, x, image);
    return 1;
}

/* One bar along each axis. */
void hd_make_bars(struct hd_dice *d, int64_t batch, void *const *in) {
    float *x = in[0];
    for (int64_t i = 0; i < batch; i++, x += BARS_PIXELS) {
        uint32_t row = hd_dice_below(d, BARS_SIDE), column = hd_dice_below(d, BARS_SIDE);
        for (uint32_t p = 0; p < BARS_PIXELS; p++)
            x[p] = p / BARS_SIDE == row || p % BARS_SIDE == column;
    }
}

double hd_score_bars(int64_t batch, const void *const *in, const void *const *out) {
    (void)batch, (void)in;
    return (double)*(const float *)out[0];
}

/* ---- ring: two networks against each other -------------------------------------------------- */

enum { CENTRES = 8, NOISE = 4 };

static int generator(struct hd_layers *l, int x) {
    x = hd_layer_tanh(l, hd_layer_dense(l, x, 64));
    x = hd_layer_tanh(l, hd_layer_dense(l, x, 64));
    return hd_layer_dense(l, x, 2);
}

static int judge(struct hd_layers *l, int x) {
    x = hd_layer_gelu(l, hd_layer_dense(l, x, 64));
    x = hd_layer_gelu(l, hd_layer_dense(l, x, 64));
    return hd_layer_dense(l, x, 1);
}

int hd_build_ring(struct hd_layers *l, int64_t batch, int *out) {
    int points = hd_layer_input(l, "points", 2, (int64_t[]){batch, 2}, NULL);
    int noise = hd_layer_input(l, "noise", 2, (int64_t[]){batch, NOISE}, NULL);
    int made = generator(l, noise), n = l->n, real = judge(l, points);
    hd_layers_again(l, n, false);
    int fake = judge(l, hd_layer_gradient(l, made, 0));
    hd_layers_again(l, n, true);
    int judged = judge(l, made);
    hd_layers_go_on(l);
    out[0] = hd_loss_game(l, real, fake, judged);
    out[1] = made;
    return 2;
}

static void centre(uint32_t k, double *out) {
    out[0] = 2 * cos(6.283185307179586 * k / CENTRES);
    out[1] = 2 * sin(6.283185307179586 * k / CENTRES);
}

void hd_make_ring(struct hd_dice *d, int64_t batch, void *const *in) {
    float *points = in[0], *noise = in[1];
    for (int64_t i = 0; i < batch; i++) {
        double at[2];
        centre(hd_dice_below(d, CENTRES), at);
        for (int k = 0; k < 2; k++) points[2 * i + k] = (float)at[k] + 0.1f * hd_dice_normal(d);
        for (int k = 0; k < NOISE; k++) noise[NOISE * i + k] = hd_dice_normal(d);
    }
}

double hd_score_ring(int64_t batch, const void *const *in, const void *const *out) {
    const float *p = out[1];
    int near = 0, reached = 0;
    (void)in;
    for (uint32_t k = 0; k < CENTRES; k++) {
        double at[2];
        int here = 0;
        centre(k, at);
        for (int64_t i = 0; i < batch; i++)
            here += hypot((double)p[2 * i] - at[0], (double)p[2 * i + 1] - at[1]) < 0.5;
        near += here, reached += here > 0;
    }
    return (double)near / (double)batch * reached / CENTRES;
}
