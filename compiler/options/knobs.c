/* The table of knobs, and how one is set. */
#include "compiler/options/knobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct hd_knobs hd_knobs = {
#define KNOB(name, value, ...) .name = (value),
#include "compiler/options/knobs.def"
};
#define KNOB(name, value, least, most, ...)                                                        \
    _Static_assert((value) >= (least) && (value) <= (most), #name " is out of its range");
#include "compiler/options/knobs.def"

const struct hd_knob_row hd_knob_rows[] = {
#define KNOB(name, ...) {#name, __VA_ARGS__},
#include "compiler/options/knobs.def"
};
const int hd_n_knobs = sizeof hd_knob_rows / sizeof *hd_knob_rows;

hd_status hd_knobs_set(hd_ctx *ctx, struct hd_knobs *knobs, const char *name_value) {
    const char *is = strchr(name_value, '=');
    size_t n = is ? (size_t)(is - name_value) : 0;
    for (int i = 0; n && i < hd_n_knobs; i++) {
        const struct hd_knob_row *row = &hd_knob_rows[i];
        if (strlen(row->name) != n || memcmp(row->name, name_value, n) != 0) continue;
        char *end;
        errno = 0;
        long v = strtol(is + 1, &end, 10);
        if (end == is + 1 || *end || errno || v < row->least || v > row->most)
            return hd_fail(ctx, HD_INVALID,
                           "knob %s: got '%s', want a whole number from %d to %d %s", row->name,
                           is + 1, row->least, row->most, row->unit);
        const int value = (int)v;
        memcpy((char *)knobs + (size_t)i * sizeof value, &value, sizeof value);
        return HD_OK;
    }
    return hd_fail(ctx, HD_INVALID, "knob: got '%s', want name=value; heddle knobs lists the names",
                   name_value);
}
