/* Private to compiler/import/tflite: what layers share. */
#ifndef HD_IMPORT_TFLITE_NN_H
#define HD_IMPORT_TFLITE_NN_H

#include "compiler/import/tflite/tflite.h"

/* An operand must be there and have this rank. */
hd_status hd_tfl_want(struct hd_tfl *m, uint32_t operand, int rank);
/* Weights as float, their dimensions permuted (perm NULL: not); scales lie along `axis` then. */
hd_status hd_tfl_weights(struct hd_tfl *m, uint32_t operand, int rank, const int64_t *perm,
                         int axis, int *out);
/* *out = -1: there is none. */
hd_status hd_tfl_bias(struct hd_tfl *m, uint32_t operand, const struct hd_tfl_tensor *x,
                      const struct hd_tfl_tensor *w, int *out);
/* Floats and integer weights: what runs rounds x, too. */
bool hd_tfl_hybrid(const struct hd_tfl_tensor *x, const struct hd_tfl_tensor *w);
hd_status hd_tfl_rounded_rows(struct hd_tfl *m, int x, int n_axes, const int64_t *axes, int *out,
                              int *out_scale);

#endif
