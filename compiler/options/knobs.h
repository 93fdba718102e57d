/* Numbers that steer the choice of plans, with the rows of knobs.def. A value: a copy is another.
 */
#ifndef HD_OPTIONS_KNOBS_H
#define HD_OPTIONS_KNOBS_H

#include <stdint.h>

#include "runtime/base/status.h"

struct hd_knobs {
#define KNOB(name, ...) int name;
#include "compiler/options/knobs.def"
};
enum {
#define KNOB(name, value, least, most, ...) HD_MOST_##name = most,
#include "compiler/options/knobs.def"
};
/* As the table says. */
extern const struct hd_knobs hd_knobs;

struct hd_knob_row {
    const char *name;
    int value, least, most;
    const char *unit, *reason, *effect;
};
extern const struct hd_knob_row hd_knob_rows[];
extern const int hd_n_knobs;

/* One of them by "name=value". HD_INVALID: there is none of the name, or it is out of its range. */
hd_status hd_knobs_set(hd_ctx *ctx, struct hd_knobs *knobs, const char *name_value);

static inline int64_t hd_eighths(int64_t all, int n) {
    return all * n / 8;
}

#endif
