/* Tasks on sequences: counts, reverse, sums, strokes. */
#include <string.h>

#include "runtime/train/task.h"

/* Next characters: the network, its loss and its metric. Class -1 is a place that does not count.
 */
static int ended(struct hd_layers *l, int x, int64_t characters, int64_t batch, int64_t length,
                 int *out) {
    int classes = hd_layer_integers(l, "next", 2, (int64_t[]){batch, length}, NULL);
    int logits = hd_layer_linear(l, x, characters);
    out[0] = hd_loss_classes(l, logits, classes);
    out[1] = hd_metric_right(l, logits, classes);
    return 2;
}

static double share(const void *classes, int64_t n, const void *right) {
    int64_t counted = 0;
    for (int64_t i = 0; i < n; i++) counted += ((const int64_t *)classes)[i] >= 0;
    return (double)*(const float *)right / (double)counted;
}

static int characters(struct hd_layers *l, const char *name, int64_t batch, int64_t length) {
    return hd_layer_integers(l, name, 2, (int64_t[]){batch, length}, NULL);
}

/* ---- counts: n a, n b, again and again ------------------------------------------------------ */

enum { COUNTS = 24, MOST = 5 };

int hd_build_counts(struct hd_layers *l, int64_t batch, int *out) {
    int x = hd_layer_embedding(l, characters(l, "text", batch, COUNTS), 3, 8);
    x = hd_layer_recurrent(l, HD_IR_lstm, x, 32, false);
    return ended(l, hd_layer_dropout(l, x, 0.9), 3, batch, COUNTS, out);
}

/* Known are the b and what follows the last of them: only the count tells. */
void hd_make_counts(struct hd_dice *d, int64_t batch, void *const *in) {
    int64_t *text = in[0], *next = in[1];
    for (int64_t i = 0; i < batch; i++) {
        int64_t line[COUNTS + 1], known[COUNTS + 1] = {0};
        uint32_t n = 0, at = 0;
        for (int k = 0; k <= COUNTS; k++, at++) {
            if (at == 2 * n) n = 1 + hd_dice_below(d, MOST), at = 0;
            line[k] = at<n, known[k] = at> n || (at == 0 && k > 0);
        }
        for (int k = 0; k < COUNTS; k++) {
            text[i * COUNTS + k] = line[k];
            next[i * COUNTS + k] = known[k + 1] ? line[k + 1] : -1;
        }
    }
}

double hd_score_counts(int64_t batch, const void *const *in, const void *const *out) {
    return share(in[1], batch * COUNTS, out[1]);
}

/* ---- reverse: a reader and a writer that looks back ----------------------------------------- */

enum { WORD = 8, LETTERS = 12, BEGIN = LETTERS };

int hd_build_reverse(struct hd_layers *l, int64_t batch, int *out) {
    int read = hd_layer_embedding(l, characters(l, "word", batch, WORD), LETTERS, 16);
    read = hd_layer_recurrent(l, HD_IR_gru, read, 16, true);
    int write = hd_layer_embedding(l, characters(l, "written", batch, WORD), LETTERS + 1, 32);
    write = hd_layer_recurrent(l, HD_IR_gru, hd_layer_position(l, write), 32, false);
    int seen = hd_layer_attention(l, write, hd_layer_position(l, read), 2, false);
    return ended(l, hd_layer_norm(l, hd_layer_add(l, write, seen)), LETTERS, batch, WORD, out);
}

void hd_make_reverse(struct hd_dice *d, int64_t batch, void *const *in) {
    int64_t *word = in[0], *written = in[1], *next = in[2];
    for (int64_t i = 0; i < batch; i++, word += WORD, written += WORD, next += WORD) {
        for (int k = 0; k < WORD; k++) word[k] = hd_dice_below(d, LETTERS);
        for (int k = 0; k < WORD; k++) {
            next[k] = word[WORD - 1 - k];
            written[k] = k ? next[k - 1] : BEGIN;
        }
    }
}

double hd_score_reverse(int64_t batch, const void *const *in, const void *const *out) {
    return share(in[2], batch * WORD, out[1]);
}

/* ---- sums: aa+bb=ccc, the sum with its last digit first ------------------------------------- */

enum { SUM = 9, PLUS = 10, EQUALS = 11, SIGNS = 12, WIDTH = 48, HEADS = 4 };

static int transformer_block(struct hd_layers *l, int x) {
    int y = hd_layer_norm(l, x);
    x = hd_layer_add(l, x, hd_layer_attention(l, y, y, HEADS, true));
    y = hd_layer_gelu(l, hd_layer_linear(l, hd_layer_norm(l, x), (int64_t)2 * WIDTH));
    return hd_layer_add(l, x, hd_layer_linear(l, y, WIDTH));
}

int hd_build_sums(struct hd_layers *l, int64_t batch, int *out) {
    int x = hd_layer_embedding(l, characters(l, "text", batch, SUM - 1), SIGNS, WIDTH);
    x = hd_layer_position(l, x);
    for (int i = 0; i < 2; i++) x = transformer_block(l, x);
    return ended(l, hd_layer_norm(l, x), SIGNS, batch, SUM - 1, out);
}

void hd_make_sums(struct hd_dice *d, int64_t batch, void *const *in) {
    int64_t *text = in[0], *next = in[1];
    for (int64_t i = 0; i < batch; i++, text += SUM - 1, next += SUM - 1) {
        uint32_t a = hd_dice_below(d, 100), b = hd_dice_below(d, 100), c = a + b;
        int64_t line[SUM] = {a / 10, a % 10, PLUS,        b / 10, b % 10,
                             EQUALS, c % 10, c / 10 % 10, c / 100};
        for (int k = 0; k < SUM - 1; k++) {
            text[k] = line[k];
            next[k] = k >= 5 ? line[k + 1] : -1;
        }
    }
}

double hd_score_sums(int64_t batch, const void *const *in, const void *const *out) {
    return share(in[1], batch * (SUM - 1), out[1]);
}

/* ---- strokes: labels of 1 to 3 noisy frames, blanks between --------------------------------- */

enum { FRAMES = 20, LABELS = 4, STROKES = 5, FEATURES = 8 };

int hd_build_strokes(struct hd_layers *l, int64_t batch, int *out) {
    int x = hd_layer_input(l, "frames", 3, (int64_t[]){batch, FRAMES, FEATURES}, NULL);
    int labels = hd_layer_integers(l, "labels", 2, (int64_t[]){batch, LABELS}, NULL);
    x = hd_layer_recurrent(l, HD_IR_gru, x, 24, true);
    int logits = hd_layer_linear(l, x, STROKES + 1);
    out[0] = hd_loss_ctc(l, logits, labels);
    out[1] = logits;
    return 2;
}

void hd_make_strokes(struct hd_dice *d, int64_t batch, void *const *in) {
    float *x = in[0];
    int64_t *labels = in[1];
    for (int64_t i = 0; i < batch; i++, labels += LABELS) {
        uint32_t n = 1 + hd_dice_below(d, LABELS), at = 0, frame[FRAMES] = {0};
        memset(labels, 0, LABELS * sizeof *labels);
        for (uint32_t k = 0; k < n; k++) {
            labels[k] = 1 + hd_dice_below(d, STROKES);
            at += 1 + hd_dice_below(d, 2);
            for (uint32_t j = 1 + hd_dice_below(d, 3); j > 0; j--)
                frame[at++] = (uint32_t)labels[k];
        }
        for (int t = 0; t < FRAMES; t++) /* a stroke shows in two features */
            for (uint32_t f = 0; f < FEATURES; f++) {
                bool on = frame[t] && (f == frame[t] || f == (frame[t] * 3 + 1) % FEATURES);
                *x++ = (on ? 1 : 0) + 0.2f * hd_dice_normal(d);
            }
    }
}

/* The likeliest label of each frame, without what repeats and without blanks. */
double hd_score_strokes(int64_t batch, const void *const *in, const void *const *out) {
    const float *y = out[1];
    const int64_t *labels = in[1];
    int right = 0;
    for (int64_t i = 0; i < batch; i++, labels += LABELS) {
        int64_t word[FRAMES] = {0}, n = 0, last = 0;
        for (int t = 0; t < FRAMES; t++, y += STROKES + 1) {
            int64_t best = 0;
            for (int64_t k = 1; k <= STROKES; k++)
                if (y[k] > y[best]) best = k;
            if (best && best != last) word[n++] = best;
            last = best;
        }
        right += !memcmp(word, labels, LABELS * sizeof *labels) && n <= LABELS;
    }
    return (double)right / (double)batch;
}
