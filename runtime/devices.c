/* The list of devices, from devices.def: all of them in the program, in libheddle_rt (HD_RT_BUILD)
 * those of boards; the others it loads from libraries of their own. And names HOST/scheme, which
 * are devices of other computers. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "driver/remote/remote.h"
#include "runtime/base/version.h"
#include "runtime/device/hal.h"
#include "runtime/heddle_rt.h"

#define EXTERN(scheme) extern const struct hd_device_ops hd_device_##scheme;
#define RT_DEVICE      EXTERN
#ifndef HD_RT_BUILD
#define HOST_DEVICE EXTERN
#define SIM_DEVICE  EXTERN
#define DEVICE      EXTERN
#endif
#include "runtime/devices.def"

const struct hd_device_ops *const hd_devices[] = {
#define ENTRY(scheme) &hd_device_##scheme,
#define RT_DEVICE     ENTRY
#ifndef HD_RT_BUILD
#define HOST_DEVICE ENTRY
#define SIM_DEVICE  ENTRY
#define DEVICE      ENTRY
#endif
#include "runtime/devices.def"
    NULL};

static const struct hd_device_ops *by_scheme(const struct hd_device_ops *const *list,
                                             const char *scheme) {
    for (int i = 0; list[i]; i++)
        if (!strcmp(list[i]->scheme, scheme)) return list[i];
    return NULL;
}

/* What devices of this version run, wherever they are. */
static const struct {
    const char *name; /* of the table: - is _ */
    bool programs;
} kinds[] = {
#define HOST_DEVICE(scheme) {#scheme, false},
#define DEVICE(scheme)      {#scheme, false},
#define SIM_DEVICE(scheme)  {#scheme, true},
#define RT_DEVICE(scheme)   {#scheme, true},
#include "runtime/devices.def"
};

static bool is_kind(const char *name, const char *scheme) {
    for (; *name && (*name == *scheme || (*name == '_' && *scheme == '-')); name++) scheme++;
    return *name == *scheme;
}

/* HOST/scheme; the host is looked for when it is opened. */
static const struct hd_device_ops *remote(const char *name) {
    const char *slash = strrchr(name, '/');
    for (size_t i = 0; slash && slash > name && i < sizeof kinds / sizeof *kinds; i++)
        if (is_kind(kinds[i].name, slash + 1))
            return kinds[i].programs ? &hd_device_remote_programs : &hd_device_remote_graphs;
    return NULL;
}

const struct hd_device_ops *hd_device_by_scheme(const char *scheme) {
    const struct hd_device_ops *d = by_scheme(hd_devices, scheme);
    return d ? d : remote(scheme);
}

/* ---- devices in libraries of their own ------------------------------------------------------ */

static const struct {
    const char *scheme, *file;
} loaded[] = {
#ifdef HD_RT_BUILD
#define HOST_DEVICE(scheme) {#scheme, HD_PLUGIN_HOST},
#define SIM_DEVICE(scheme)  {#scheme, HD_PLUGIN_SIM},
#include "runtime/devices.def"
#endif
    {NULL, NULL}};

/* The library beside ours, else where the system looks. It stays open: its devices are in use. */
static void *open_plugin(const char *file) {
    char path[1024];
    Dl_info us;
    void *lib = NULL;
    if (dladdr(&hd_devices, &us) && us.dli_fname) {
        const char *slash = strrchr(us.dli_fname, '/');
        int n = slash ? (int)(slash + 1 - us.dli_fname) : 0;
        if (n && snprintf(path, sizeof path, "%.*s%s", n, us.dli_fname, file) < (int)sizeof path)
            lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return lib ? lib : dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

static hd_status find_loaded(hd_ctx *ctx, const char *scheme, const char *file,
                             const struct hd_device_ops **out) {
    void *lib = open_plugin(file);
    if (!lib)
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "device %s: it is in %s, which is not here: %s; install it beside "
                       "libheddle_rt, or name its folder in LD_LIBRARY_PATH",
                       scheme, file, dlerror());
    const struct hd_plugin *p = dlsym(lib, "hd_plugin");
    if (!p || strcmp(p->version, hd_version()) != 0 || p->isa_hash != hd_isa_hash())
        return hd_fail(ctx, HD_MISMATCH,
                       "device %s: %s is of version %s with instruction set 0x%08x, this library "
                       "is %s with 0x%08x; install both from one build",
                       scheme, file, p ? p->version : "?", p ? p->isa_hash : 0, hd_version(),
                       hd_isa_hash());
    *out = by_scheme(p->devices, scheme);
    return *out ? HD_OK
                : hd_fail(ctx, HD_UNSUPPORTED, "device %s: %s is built without it; build it again",
                          scheme, file);
}

/* ---- names ---------------------------------------------------------------------------------- */

const char *hd_device_name(int i) {
    int n = 0;
    if (i < 0) return NULL;
    for (; hd_devices[n]; n++)
        if (n == i) return hd_devices[n]->scheme;
    for (int k = 0; loaded[k].scheme; k++)
        if (n + k == i) return loaded[k].scheme;
    return NULL;
}

hd_status hd_device_find(hd_ctx *ctx, const char *scheme, const struct hd_device_ops **out) {
    char have[256] = "";
    *out = hd_device_by_scheme(scheme);
    if (*out) return HD_OK;
    for (int i = 0; loaded[i].scheme; i++)
        if (!strcmp(loaded[i].scheme, scheme)) return find_loaded(ctx, scheme, loaded[i].file, out);
    for (int i = 0; hd_device_name(i); i++) {
        size_t n = strlen(have);
        snprintf(have + n, sizeof have - n, "%s%s", n ? ", " : "", hd_device_name(i));
    }
    return hd_fail(ctx, HD_UNSUPPORTED,
                   "device %s: unknown, this program has %s; HOST/NAME is one of them on another "
                   "computer",
                   scheme, have);
}

hd_status hd_device_check(hd_ctx *ctx, const char *scheme) {
    const struct hd_device_ops *d = NULL;
    struct hd_device_info info = {.available = true};
    TRY(hd_device_find(ctx, scheme, &d));
    if (d->probe) TRY(d->probe(ctx, NULL, &info));
    if (remote(scheme)) return hd_remote_check(ctx, scheme);
    return info.available ? HD_OK
                          : hd_fail(ctx, HD_DEVICE, "device %s: not available: %s", scheme,
                                    info.why_not ? info.why_not : "");
}
