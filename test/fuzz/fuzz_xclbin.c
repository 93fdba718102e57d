/* Any bytes as an xclbin: are refused with a message, or every table in them can be walked. */
#include <stdint.h>
#include <string.h>

#include "driver/xclbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    struct hd_xclbin x;
    if (hd_xclbin_parse(ctx, a, data, size, "fuzz", &x) == HD_OK) {
        uint64_t sum = strlen(x.platform); /* of everything, for asan; links may lead nowhere */
        for (int i = 0; i < x.n_links; i++) sum += x.links[i].ip + x.links[i].bank;
        for (int i = 0; i < x.n_banks; i++) sum += strlen(x.banks[i].tag);
        for (int i = 0; i < x.n_ips; i++) sum += strlen(x.ips[i].name);
        for (int i = 0; i < x.n_clocks; i++) sum += strlen(x.clocks[i].name);
        HD_ASSERT(x.bytes <= size || sum);
    }
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
    return 0;
}
