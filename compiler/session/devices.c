/* Lists of devices that run one network together. */
#include <string.h>

#include "compiler/session/session.h"

hd_status hd_list_devices(hd_ctx *ctx, hd_arena *a, const char *text, struct hd_device_list *out) {
    struct hd_device_list list = {.machine = -1};
    const char **name = hd_new_array(a, const char *, strlen(text) + 2);
    bool graphs = false;
    for (const char *p = text; *p || p == text;) {
        size_t n = strcspn(p, ",");
        const char *one = hd_strndup(a, p, n);
        const struct hd_device_ops *ops = NULL;
        TRY(hd_device_find(ctx, one, &ops));
        TRY(hd_device_check(ctx, one));
        if (ops->sections & HD_RUNS_PROG && list.machine >= 0)
            return hd_fail(ctx, HD_UNSUPPORTED,
                           "devices %s: %s and %s both run programs; name one of them", text,
                           name[list.machine], one);
        for (int i = 0; i < list.n; i++)
            if (!strcmp(name[i], one))
                return hd_fail(ctx, HD_INVALID, "devices %s: %s is named twice", text, one);
        if (ops->sections & HD_RUNS_PROG)
            list.machine = list.n;
        else
            graphs = true;
        name[list.n++] = one;
        p += n + (p[n] == ',');
    }
    if (!graphs) name[list.n++] = "golden"; /* for what the machine does not run */
    if (list.n > HD_DEVICES_TOGETHER)
        return hd_fail(ctx, HD_INVALID, "devices %s: %d of them, at most %d", text, list.n,
                       HD_DEVICES_TOGETHER);
    list.name = name;
    *out = list;
    return HD_OK;
}
