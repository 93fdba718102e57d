/* The list of devices, from devices.def. */
#include <string.h>

#include "runtime/hal.h"

#define DEVICE(scheme) extern const struct hd_device_ops hd_device_##scheme;
#include "runtime/devices.def"

const struct hd_device_ops *const hd_devices[] = {
#define DEVICE(scheme) &hd_device_##scheme,
#include "runtime/devices.def"
    NULL};

const struct hd_device_ops *hd_device_by_scheme(const char *scheme) {
    for (int i = 0; hd_devices[i]; i++)
        if (!strcmp(hd_devices[i]->scheme, scheme)) return hd_devices[i];
    return NULL;
}
