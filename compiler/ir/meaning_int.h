/* Private to the meanings of operations: one node for which the text of a row is made. Conditions
 * of rows and words in braces are functions of it; meaning.def names them. */
#ifndef HD_IR_MEANING_INT_H
#define HD_IR_MEANING_INT_H

#include <stdio.h>
#include <string.h>

#include "compiler/ir/expression.h"

struct hd_maker {
    const struct hd_node *n;
    int n_in;
    const struct hd_tensor *const *in;
    const struct hd_tensor *out;
    hd_ctx *ctx; /* for what is asked of windows; messages are dropped */
};

static inline const struct hd_tensor *hd_mean_operand(const struct hd_maker *m, int i) {
    return i < m->n_in ? m->in[i] : NULL;
}

/* Axes of a reduction as a set; false = they are not known. */
bool hd_mean_axes(const struct hd_maker *m, unsigned *out);
/* Integers of operand i: how many; 0 when it is left out, -1 when they are not known or more than
 * max. */
int hd_mean_ints(const struct hd_maker *m, int i, int64_t *out, int max);
/* Attribute axis, counted from 0, of an operation that has `rank` dimensions. */
int64_t hd_mean_axis(const struct hd_maker *m, int64_t def, int rank);

/* Conditions: the operands that say what moves are known. meaning_move.c, meaning_sample.c */
bool hd_mean_slice_known(const struct hd_maker *m);
bool hd_mean_split_known(const struct hd_maker *m);
bool hd_mean_pad_known(const struct hd_maker *m);
bool hd_mean_box_known(const struct hd_maker *m);
bool hd_mean_joins(const struct hd_maker *m);
bool hd_mean_col2im_known(const struct hd_maker *m);
bool hd_mean_resize_known(const struct hd_maker *m);
bool hd_mean_einsum_known(const struct hd_maker *m);

/* Words in braces; false = not one of theirs. */
bool hd_mean_move_word(FILE *f, const struct hd_maker *m, const char *word);
bool hd_mean_sample_word(FILE *f, const struct hd_maker *m, const char *word);

#endif
