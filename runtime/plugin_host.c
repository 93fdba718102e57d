/* Face of libheddle_host.so: what the compiler left to the host, for libheddle_rt. It has its own
 * copy of what it uses of runtime/ and isa/, so it works with the shared and with the static
 * library. */
#include "runtime/base/version.h"
#include "runtime/device/hal.h"
#include "runtime/heddle_rt.h"

#define HOST_DEVICE(scheme) extern const struct hd_device_ops hd_device_##scheme;
#include "runtime/devices.def"

static const struct hd_device_ops *const devices[] = {
#define HOST_DEVICE(scheme) &hd_device_##scheme,
#include "runtime/devices.def"
    NULL};

/* What is no constant is set before dlopen returns. */
HD_API struct hd_plugin hd_plugin = {NULL, 0, devices};

__attribute__((constructor)) static void fill(void) {
    hd_plugin.version = hd_version();
    hd_plugin.isa_hash = hd_isa_hash();
}
