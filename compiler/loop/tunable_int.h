/* Private to compiler/loop: works of bytes. */
#ifndef HD_LOOP_TUNABLE_INT_H
#define HD_LOOP_TUNABLE_INT_H

#include "compiler/loop/tunable.h"

const char *hd_tunable_bytes_text(hd_arena *a, const struct hd_tunable *w);
const char *hd_tunable_bytes_schedule(hd_arena *a, const struct hd_tunable *w,
                                      const struct hd_tile *t);

#endif
