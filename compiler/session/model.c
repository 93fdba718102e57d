/* The MODEL argument: a network, an .hdl file, or a folder that holds a network under a usual name;
 * and sessions on it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/compiler.h"
#include "compiler/report/items.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "runtime/runtime.h"

hd_status hd_model_path(struct hd_cmd *c, hd_arena *a, const char *arg, const char **out_path) {
    struct stat st;
    if (stat(arg, &st) != 0)
        return hd_fail(c->ctx, HD_IO, "%s: cannot open: %s", arg, strerror(errno));
    *out_path = hd_strdup(a, arg);
    if (!S_ISDIR(st.st_mode)) return HD_OK;
    size_t n = strlen(arg);
    while (n > 1 && arg[n - 1] == '/') n--;
    *out_path = hd_model_in(a, hd_strndup(a, arg, n));
    if (*out_path) return HD_OK;
    const char *names = "";
    for (int i = 0; hd_model_files[i]; i++)
        names = hd_sprintf(a, "%s%s%s", names, i ? ", " : "", hd_model_files[i]);
    return hd_fail(c->ctx, HD_IO, "%s: a folder without %s; name a network or an .hdl file", arg,
                   names);
}

const char *hd_model_in(hd_arena *a, const char *folder) {
    for (int i = 0; hd_model_files[i]; i++) {
        const char *path = hd_sprintf(a, "%s/%s", folder, hd_model_files[i]);
        if (access(path, R_OK) == 0) return path;
    }
    return NULL;
}

/* By its first bytes, or its name when it is too short to tell. */
bool hd_is_hdl(const char *path) {
    char head[4] = {0};
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(head, 1, 4, f) : 0;
    if (f) fclose(f);
    size_t len = strlen(path);
    return (n == 4 && !memcmp(head, "HDL\x1a", 4)) || (len > 4 && !strcmp(path + len - 4, ".hdl"));
}

/* Names of the layers that a selector means; compiles without them to find out. */
static hd_status select_names(struct hd_cmd *c, hd_arena *a, const char *path, const char *selector,
                              const struct hd_compile_options *o, struct hd_name_list *out) {
    struct hd_compile_options plain = *o;
    hd_model *m;
    bool *layers = NULL;
    if (!selector) return HD_OK;
    plain.dump = NULL;
    TRY(hd_compile(c->ctx, path, &plain, &m));
    hd_status s = hd_select_layers(c, a, selector, m, &layers);
    const char **names = hd_new_array(a, const char *, (size_t)m->n_layers + 1);
    int n = 0;
    for (int i = 0; s == HD_OK && i < m->n_layers; i++)
        if (layers[i]) names[n++] = hd_strdup(a, m->layers[i].name);
    *out = (struct hd_name_list){names, n};
    hd_model_destroy(m);
    return s;
}

static hd_status compile(struct hd_cmd *c, hd_arena *a, const char *path,
                         const struct hd_machine *m, bool host_only, const struct hd_bind *bind,
                         hd_model **out) {
    struct hd_knobs knobs = hd_knobs;
    struct hd_compile_options o = {.machine = *m,
                                   .knobs = &knobs,
                                   .bind = *bind,
                                   .mem_latency = c->opt.mem.latency,
                                   .latency_hiding = !c->opt.plan.no_latency_hiding,
                                   .host_only = host_only,
                                   .dump = c->opt.dump,
                                   .dump_to = stdout};
    struct hd_name_list keep = {0}, only = {0};
    for (int i = 0; i < c->opt.plan.knobs.n; i++)
        TRY(hd_knobs_set(c->ctx, &knobs, c->opt.plan.knobs.text[i]));
    if (c->together) TRY(hd_list_devices(c->ctx, a, c->together, &o.devices));
    if (!host_only) TRY(select_names(c, a, path, c->opt.keep, &o, &keep));
    if (!host_only && o.dump) TRY(select_names(c, a, path, c->opt.select, &o, &only));
    o.keep = keep;
    o.dump_only = only;
    return hd_compile_kept(c->ctx, path, &o, c->opt.plan.cache_mib, out);
}

static hd_status load(struct hd_cmd *c, const char *path, const struct hd_machine *want,
                      hd_model **out) {
    bool chosen = c->opt.machine || c->opt.sets.n;
    if (c->opt.keep || c->opt.dump || c->opt.plan.knobs.n || c->opt.import.states.n ||
        c->opt.import.values.n)
        return hd_fail(
            c->ctx, HD_INVALID,
            "%s: is compiled; --keep, --dump, --knob, --value and --state want the network", path);
    TRY(hd_model_load(c->ctx, path, out));
    if (!chosen || hd_machine_hash(want) == (*out)->machine_hash) return HD_OK;
    hd_status s = hd_fail(c->ctx, HD_MISMATCH,
                          "%s: compiled for machine %s (fingerprint 0x%08x), --machine and "
                          "--set say %s (0x%08x); "
                          "compile it again for that machine",
                          path, (*out)->machine.name, (*out)->machine_hash, want->name,
                          hd_machine_hash(want));
    hd_model_destroy(*out);
    *out = NULL;
    return s;
}

const char *hd_stored_model(hd_arena *a, const char *folder) {
    const char *root = getenv("HEDDLE_MODELS");
    const char *path =
        hd_sprintf(a, "%s/%s/model.onnx", root && *root ? root : "../shared/models", folder);
    const char *made = hd_sprintf(a, "build/models/%s/model.onnx", folder);
    return access(path, R_OK) == 0 ? path : made;
}

hd_status hd_open_model_for(struct hd_cmd *c, const char *path, bool host_only,
                            const struct hd_file_tensor *t, int n, hd_model **out) {
    struct hd_machine want;
    struct hd_bind bind = {0};
    TRY(hd_cmd_machine(c, &want));
    hd_arena *a = hd_arena_create();
    hd_status s = hd_cmd_bind(c, a, t, n, &bind);
    if (s == HD_OK) s = compile(c, a, path, &want, host_only, &bind, out);
    hd_arena_destroy(a);
    return s;
}

hd_status hd_open_checks(struct hd_cmd *c, const char *path, bool host_only, int check,
                         hd_model **out) {
    struct hd_machine want;
    TRY(hd_cmd_machine(c, &want));
    hd_arena *a = hd_arena_create();
    hd_status s = compile(c, a, path, &want, host_only, &(struct hd_bind){.check = check}, out);
    hd_arena_destroy(a);
    return s;
}

hd_status hd_open_model(struct hd_cmd *c, const char *path, bool host_only, hd_model **out) {
    struct hd_machine want;
    struct hd_bind bind = {0};
    TRY(hd_cmd_machine(c, &want));
    if (hd_is_hdl(path)) return load(c, path, &want, out);
    hd_arena *a = hd_arena_create();
    hd_status s = hd_cmd_bind_inputs(c, a, path, &bind);
    if (s == HD_OK) s = compile(c, a, path, &want, host_only, &bind, out);
    hd_arena_destroy(a);
    return s;
}

hd_status hd_open_session(struct hd_cmd *c, const hd_model *m, const char *device,
                          hd_session **out) {
    struct hd_device_options o;
    hd_cmd_device_options(c, &m->machine, &o);
    return hd_session_open(c->ctx, m, device, &o, out);
}
