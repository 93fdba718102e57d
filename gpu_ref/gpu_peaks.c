/* Peaks of devices: see gpu_peaks.h. */
#include "gpu_ref/gpu_peaks.h"

#include <string.h>

static const struct {
    const char *text;
    struct hd_gpu_peaks p; /* in 10^12 and 10^9 a second */
} cards[] = {
#define PEAK(text, f32, tf32, f16, int8, bytes, sheet)                                             \
    {text, {f32, tf32, f16, int8, bytes, "NVIDIA " sheet, "NVIDIA's data sheet, dense"}},
#include "gpu_ref/gpu_peaks.def"
};

bool hd_gpu_peaks_of_card(const char *name, struct hd_gpu_peaks *out) {
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        if (name && !strstr(name, cards[i].text)) continue;
        *out = cards[i].p;
        out->f32 *= 1e12, out->tf32 *= 1e12, out->f16 *= 1e12, out->int8 *= 1e12;
        out->bytes *= 1e9;
        return true;
    }
    return false;
}

struct hd_gpu_peaks hd_gpu_peaks_of_limits(const struct hd_gpu_limits *l) {
    struct hd_gpu_peaks p = {.card = l->name,
                             .source = "units x clock x lanes x 2, by the device's queries"};
    p.f32 = 2e6 * l->units * l->clock_mhz * l->lanes;
    return p;
}
