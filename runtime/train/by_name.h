/* Layers by name: the table of layer.def. */
#ifndef HD_TRAIN_BY_NAME_H
#define HD_TRAIN_BY_NAME_H

#include "runtime/train/losses.h"

struct hd_layer_number {
    const char *name;
    double value;
};

/* Layer i: its name, its operands, its numbers as layer.def has them. NULL behind the last. */
const char *hd_layer_kind(int i, int *out_operands, const char **out_numbers);
/* Adds it. Errors: no such layer, operands, a number that it does not have or that is missing. */
hd_status hd_layer_add_by_name(struct hd_layers *l, const char *kind, const int *x, int n_x,
                               const struct hd_layer_number *numbers, int n, int *out);

#endif
