/* What the page has instead of runtime/devices.c, compiler/kept.c and zlib: two devices, no cache
 * of compiled models, and a checksum. */
#include <string.h>
#include <zlib.h>

#include "compiler/compiler.h"
#include "runtime/device/hal.h"
#include "runtime/heddle_rt.h"

extern const struct hd_device_ops hd_device_golden, hd_device_iss;

const struct hd_device_ops *const hd_devices[] = {&hd_device_golden, &hd_device_iss, NULL};

const char *hd_device_name(int i) {
    return i == 0 || i == 1 ? hd_devices[i]->scheme : NULL;
}

const struct hd_device_ops *hd_device_by_scheme(const char *scheme) {
    for (int i = 0; hd_devices[i]; i++)
        if (!strcmp(hd_devices[i]->scheme, scheme)) return hd_devices[i];
    return NULL;
}

hd_status hd_device_find(hd_ctx *ctx, const char *scheme, const struct hd_device_ops **out) {
    *out = hd_device_by_scheme(scheme);
    return *out ? HD_OK
                : hd_fail(ctx, HD_UNSUPPORTED, "device %s: the page has golden and iss", scheme);
}

hd_status hd_device_check(hd_ctx *ctx, const char *scheme) {
    const struct hd_device_ops *d = NULL;
    return hd_device_find(ctx, scheme, &d);
}

hd_status hd_compile_graph_kept(hd_ctx *ctx, hd_graph *g, const struct hd_compile_options *opt,
                                int mib, hd_model **out) {
    (void)mib;
    return hd_compile_graph(ctx, g, opt, out);
}

unsigned long crc32_z(unsigned long crc, const unsigned char *data, size_t bytes) {
    uint32_t c = ~(uint32_t)crc;
    for (size_t i = 0; i < bytes; i++) {
        c ^= data[i];
        for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ 0xedb88320U : c >> 1;
    }
    return ~c;
}
