/* The Verilated models: found, or built, and loaded. */
#ifndef HD_SIM_RTL_FIND_H
#define HD_SIM_RTL_FIND_H

#include "sim/rtl_model.h"

struct hd_rtl_lib {
    void *lib;
    const struct hd_rtl_api *api;
    struct hd_rtl *rtl;
};

/* waves: one that keeps every signal. What has been opened when it fails is hd_rtl_close's, too. */
hd_status hd_rtl_open(hd_ctx *ctx, const struct hd_machine *m, bool waves, hd_axi_mem *mem,
                      struct hd_rtl_lib *out);
void hd_rtl_close(struct hd_rtl_lib *lib);

bool hd_rtl_has_model(const struct hd_machine *m);
bool hd_rtl_can_build(void); /* the program lies in its repository */

#endif
