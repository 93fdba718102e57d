/* Why a layer does not fit: a value, because plans that are tried fail often and hardly a reason is
 * read. */
#ifndef HD_COMPILER_REFUSAL_H
#define HD_COMPILER_REFUSAL_H

#include "runtime/base/arena.h"

enum hd_refusal_why {
    HD_FITS,
    HD_REFUSAL_said, /* in words, by a file */
#define REFUSAL(name, ...) HD_REFUSAL_##name,
#include "compiler/layer/refusals.def"
};

struct hd_refusal {
    enum hd_refusal_why why;
    long long n[4];
    const char *said;
};

#define HD_REFUSE(name)        ((struct hd_refusal){.why = HD_REFUSAL_##name})
#define HD_REFUSE_N(name, ...) ((struct hd_refusal){.why = HD_REFUSAL_##name, .n = {__VA_ARGS__}})

/* NULL: it fits. Owned by the arena, by the refusal, or static. */
const char *hd_refusal_text(const struct hd_refusal *r, hd_arena *a);

#endif
