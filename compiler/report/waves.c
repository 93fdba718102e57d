/* The files of --wave: the device writes them under other names, and they get theirs when they are
 * complete. */
#include "compiler/report/waves.h"

#include <string.h>

#include "runtime/base/io.h"

struct hd_wave_files {
    struct hd_wave wave;
    struct hd_wave_result result;
    struct hd_out fst, save;
};

/* x.fst -> x.gtkw */
static const char *save_path(hd_arena *a, const char *path) {
    size_t n = strlen(path);
    bool fst = n > 4 && !strcmp(path + n - 4, ".fst");
    return hd_sprintf(a, "%.*s.gtkw", (int)(fst ? n - 4 : n), path);
}

/* A file that the device writes in place of what is opened here. */
static hd_status open_file(struct hd_cmd *c, const char *path, struct hd_out *out) {
    TRY(hd_out_open(c->ctx, path, out));
    if (out->tmp) return HD_OK;
    return hd_out_close(c->ctx, out,
                        hd_fail(c->ctx, HD_INVALID, "--wave: %s is no file; waveforms want one",
                                !strcmp(path, "-") ? "standard output" : path));
}

hd_status hd_waves_open(struct hd_cmd *c, hd_arena *a, const hd_model *m, const bool *layers,
                        struct hd_wave_files **out) {
    const struct hd_wave_options *o = &c->opt.trace.wave;
    struct hd_wave_files *w = hd_new(a, struct hd_wave_files);
    const char **names = hd_new_array(a, const char *, (size_t)m->n_layers + 1);
    for (int i = 0; i < m->n_layers; i++) names[i] = m->layers[i].name;
    TRY(open_file(c, o->path, &w->fst));
    hd_status s = open_file(c, save_path(a, o->path), &w->save);
    if (s) return hd_out_close(c->ctx, &w->fst, s);
    const char *slash = strrchr(o->path, '/');
    uint64_t to = o->cycles && o->from + o->cycles > o->from ? o->from + o->cycles : UINT64_MAX;
    w->wave = (struct hd_wave){.path = w->fst.tmp,
                               .save = w->save.tmp,
                               .shown = slash ? slash + 1 : o->path,
                               .from = o->from,
                               .to = to,
                               .layers = layers,
                               .names = names,
                               .n_layers = m->n_layers,
                               .result = &w->result};
    c->wave = &w->wave;
    *out = w;
    return HD_OK;
}

hd_status hd_waves_close(struct hd_cmd *c, struct hd_wave_files *w, hd_status s) {
    if (!w) return s;
    if (s == HD_OK && *w->result.why)
        s = hd_fail(c->ctx, HD_IO, "--wave: %s: %s", c->opt.trace.wave.path, w->result.why);
    if (s == HD_OK && !w->result.cycles)
        s = hd_fail(c->ctx, HD_INVALID,
                    "--wave: no cycle of the run is in the window; see --select, --wave-from and "
                    "--wave-cycles");
    s = hd_out_close(c->ctx, &w->fst, s);
    return hd_out_close(c->ctx, &w->save, s);
}
