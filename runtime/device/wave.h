/* What --wave asks of device rtl: a file of every signal in every cycle (FST), and what GTKWave
 * shows of it. The device fills `result` when it closes. */
#ifndef HD_DEVICE_WAVE_H
#define HD_DEVICE_WAVE_H

#include <stdbool.h>
#include <stdint.h>

struct hd_wave_result {
    uint64_t cycles; /* recorded */
    char why[200];   /* empty: both files are complete */
};
struct hd_wave {
    const char *path, *save;  /* files to write: the FST, GTKWave's save file */
    const char *shown;        /* the FST's name in the save file */
    uint64_t from, to;        /* window, in cycles since the first program began */
    const bool *layers;       /* by tag: cycles in which a unit works on one of them; NULL = all */
    const char *const *names; /* of the layers, by tag */
    int n_layers;
    struct hd_wave_result *result;
};
#endif
