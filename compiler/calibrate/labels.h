/* What is right for each sample: a class, or the values of the first output. */
#ifndef HD_CALIBRATE_LABELS_H
#define HD_CALIBRATE_LABELS_H

#include "compiler/calibrate/data.h"

struct hd_labels {
    int64_t n;            /* samples */
    const int64_t *class; /* of each, or NULL */
    const void **values;  /* of each, as the first output has them, or NULL */
    size_t *bytes;        /* of those */
};
/* --labels for samples of model m: the classes of a text or array, or an array of outputs; without
 * it the outputs of test_data_set folders, else none (n = 0). */
hd_status hd_load_labels(struct hd_cmd *c, hd_arena *a, const hd_model *m,
                         const struct hd_calibration *k, struct hd_labels *out);

#endif
