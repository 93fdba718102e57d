/* Data for calibration. */
#ifndef HD_CALIBRATE_DATA_H
#define HD_CALIBRATE_DATA_H

#include "compiler/session/session.h"

struct hd_calibration {
    const char *what; /* the files, or how the data are made; for people */
    int n;            /* data sets */
    struct hd_data_set {
        struct hd_file_tensor *t;
        int n;
    } * sets;    /* NULL: made from the shapes of the inputs */
    bool arrays; /* sets[0] holds arrays of all samples */
    bool ramp;   /* else random */
    uint64_t seed;
};
/* --calibrate: a folder with test_data_set_*, or such a folder, or .npz, .npy, .pb; default: those
 * beside the model, else random from --seed. */
hd_status hd_load_calibration(struct hd_cmd *c, hd_arena *a, const char *model_path,
                              struct hd_calibration *out);
/* Counts the samples when they are in arrays: of model m. */
hd_status hd_count_calibration(struct hd_cmd *c, hd_arena *a, const hd_model *m,
                               struct hd_calibration *k);
/* Inputs of data set i. */
hd_status hd_calibration_inputs(struct hd_cmd *c, hd_arena *a, const hd_model *m,
                                const struct hd_calibration *k, int i, const void ***out);

#endif
