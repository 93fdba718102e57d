/* Texts of refusals. */
#include "compiler/layer/refusal.h"

const char *hd_refusal_text(const struct hd_refusal *r, hd_arena *a) {
    const long long *n = r->n;
    switch (r->why) {
    case HD_FITS:
    case HD_REFUSAL_said:
        break;
#define REFUSAL(name, ...)                                                                         \
    case HD_REFUSAL_##name:                                                                        \
        return hd_sprintf(a, __VA_ARGS__);
#include "compiler/layer/refusals.def"
    }
    return r->said;
}
