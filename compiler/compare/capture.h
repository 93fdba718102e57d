/* Results of layers read out of a machine's memories while it runs, by the address map of the
 * model: nothing is compiled otherwise for it, and what stays on chip is seen, too. */
#ifndef HD_COMPARE_CAPTURE_H
#define HD_COMPARE_CAPTURE_H

#include "compiler/check/check.h"
#include "runtime/device/probe.h"
#include "runtime/runtime.h"

struct rolled;
struct written;

struct hd_capture {
    struct hd_probe probe; /* give it to the device */
    const hd_model *m;
    const bool *layers; /* those that are kept; NULL = all */
    const struct hd_probe_eye *eye;
    struct rolled *rolled; /* results of VX in rolling places, by program word */
    size_t n_rolled, cap_rolled;
    int *row;              /* per place: the row behind those of a rolling one that were written */
    struct hd_check check; /* its arena holds what operations write, of one step at a time */
    struct written *written; /* by program word */
    size_t n_written, cap_written;
    uint8_t **shadow; /* per place: its bytes as far as they are written; NULL = none yet */
    uint32_t *left;   /* per layer: operations that have not ended yet */
    void **dense;     /* per place of the model: the last result, malloc'd; NULL = none was seen */
    bool early;       /* the device tells when VX has written */
    bool failed;      /* no memory for one of them, or the device could not show it */
};

/* The model and layers outlive it. */
void hd_capture_init(struct hd_capture *x, const hd_model *m, const bool *layers);
void hd_capture_deinit(struct hd_capture *x);

#endif
