/* What a device can do at most: by a table of cards, or by what the device says of itself. */
#ifndef HD_GPU_REF_GPU_PEAKS_H
#define HD_GPU_REF_GPU_PEAKS_H

#include "gpu_ref/gpu.h"

struct hd_gpu_peaks {
    double f32, tf32, f16, int8; /* operations a second, a product and its sum are two; 0 = none */
    double bytes;                /* of memory, a second; 0 = not known */
    const char *card, *source;   /* for people */
};

/* name: the device's; NULL = a card that stands for one that is not here. False: not in the table.
 */
bool hd_gpu_peaks_of_card(const char *name, struct hd_gpu_peaks *out);
/* By units, clock and lanes that the device gives; bytes: 0. */
struct hd_gpu_peaks hd_gpu_peaks_of_limits(const struct hd_gpu_limits *l);

#endif
