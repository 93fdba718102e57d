/* Don't-care fields, which an operation does not look at, keep what its words hold, so that the
 * program need not change them.
 *
 * needs: the operation's fields; the one before it of its unit, done already
 * gives: values of the fields that idle.def says are idle
 * destroys: nothing that has a meaning
 */
#include <string.h>

#include "compiler/machine_ops/machine_ops.h"

#define DW     hd_isa_ops[HD_OP_vx_dw].code
#define GET(f) hd_field_get(w, HD_F_##f)
#define WAS(f) hd_field_get(held, HD_F_##f)

static void keep(enum hd_field f, uint32_t *w, const uint32_t *held) {
    hd_field_set(w, f, hd_field_get(held, f));
}

void hd_op_fill_dont_cares(int unit, unsigned code, uint32_t w[HD_PARAM_WORDS],
                           const uint32_t held[HD_PARAM_WORDS]) {
    if (!code) { /* a nop looks at none */
        memcpy(w, held, HD_PARAM_WORDS * sizeof *w);
        return;
    }
    /* Words of most operations are those of the one before: the first test ends most rows. */
#define IDLE(name, field, when)                                                                    \
    if (unit == HD_UNIT_##name && w[WORD(name##_##field)] != held[WORD(name##_##field)] && (when)) \
        keep(HD_F_##name##_##field, w, held);
#define WORD(f) hd_isa_fields[HD_F_##f].word
#include "compiler/machine_ops/idle.def"
}
