/* Data for calibration. */
#ifndef HD_CALIBRATE_DATA_H
#define HD_CALIBRATE_DATA_H

#include "compiler/session/session.h"
#include "compiler/tensors/image.h"

struct hd_calibration {
    const char *what; /* the files, or how the data are made; for people */
    int n;            /* data sets */
    struct hd_data_set {
        struct hd_file_tensor *t;
        int n;
    } * sets;            /* NULL: made from the shapes of the inputs */
    bool arrays;         /* sets[0] holds arrays of all samples */
    int *form;           /* per set: sets of the same shapes have the same, and stand together */
    char **folders;      /* of the sets, where they have some */
    const char **images; /* a sample each, instead of sets: files by name */
    int n_images;
    struct hd_image_options fit; /* of them */
    bool ramp;                   /* else random */
    uint64_t seed;
};
/* --calibrate, --data: a folder with test_data_set_*, or such a folder, one of images (or of
 * folders of images), or .npz, .npy, .pb; default: data sets beside the model, else random from
 * --seed. */
hd_status hd_load_calibration(struct hd_cmd *c, hd_arena *a, const char *model_path,
                              struct hd_calibration *out);
/* Counts the sets when they are arrays or images: of model m, whose first dimension is a batch. */
hd_status hd_count_calibration(struct hd_cmd *c, hd_arena *a, const hd_model *m,
                               struct hd_calibration *k);
/* What stands for the shapes of set i: 0 unless sets have tensors of different shapes. */
int hd_calibration_form(const struct hd_calibration *k, int i);
/* Set i as it was loaded; NULL: samples of arrays or images, or made up. */
const struct hd_data_set *hd_calibration_set(const struct hd_calibration *k, int i);
/* Inputs of data set i. */
hd_status hd_calibration_inputs(struct hd_cmd *c, hd_arena *a, const hd_model *m,
                                const struct hd_calibration *k, int i, const void ***out);

/* Samples of a run of model m: its first dimension when they are arrays or images, else 1. */
int64_t hd_calibration_batch(const hd_model *m, const struct hd_calibration *k);

#endif
