/* Device "rtl": the Verilated hardware (sim/rtl_find.c). */
#include <stdlib.h>

#include "sim/mach_dev.h"
#include "sim/rtl_find.h"
#include "sim/trace.h"

struct model {
    struct hd_rtl_lib lib;
    struct hd_trace *trace; /* NULL without probe */
    bool waves;
    uint8_t *memory[HD_PROBE_ARENA];
};

/* ---- backend -------------------------------------------------------------------------------- */

static void destroy(void *self) {
    struct model *d = self;
    if (d->waves) d->lib.api->wave->close(d->lib.rtl);
    hd_rtl_close(&d->lib);
    hd_trace_destroy(d->trace);
    for (int i = 0; i < HD_PROBE_ARENA; i++) free(d->memory[i]);
    free(d);
}

static hd_status open_waves(hd_ctx *ctx, struct model *d, const struct hd_wave *w) {
    if (!d->lib.api->wave)
        return hd_fail(ctx, HD_DEVICE,
                       "rtl: the model keeps no signals; waveforms need one of 'make rtl-wave'");
    d->waves = d->lib.api->wave->open(d->lib.rtl, w);
    return d->waves ? HD_OK : hd_fail(ctx, HD_IO, "%s: %s", w->shown, w->result->why);
}

static hd_status create(hd_ctx *ctx, const struct hd_device_options *opt, hd_axi_mem *mem,
                        void **out) {
    *out = NULL;
    struct model *d = calloc(1, sizeof *d);
    if (!d) return hd_fail(ctx, HD_NOMEM, "rtl: no memory for machine %s", opt->machine.name);
    hd_status s = hd_rtl_open(ctx, &opt->machine, opt->wave != NULL, mem, &d->lib);
    if (s == HD_OK && opt->wave) s = open_waves(ctx, d, opt->wave);
    if (s)
        destroy(d);
    else
        *out = d;
    return s;
}

static void reg_write(void *self, uint32_t offset, uint32_t v) {
    struct model *d = self;
    d->lib.api->reg_write(d->lib.rtl, offset, v);
}

static uint32_t reg_read(void *self, uint32_t offset) {
    struct model *d = self;
    return d->lib.api->reg_read(d->lib.rtl, offset);
}

static bool run(void *self, uint64_t max_cycles) {
    struct model *d = self;
    bool done = d->lib.api->run(d->lib.rtl, max_cycles);
    if (done && d->trace) hd_trace_end(d->trace, d->lib.api->cycles(d->lib.rtl));
    return done;
}

static void begin(void *self, const uint32_t *program, size_t n_words) {
    struct model *d = self;
    if (d->waves) d->lib.api->wave->begin(d->lib.rtl, program, n_words);
}

static bool set_probe(void *self, const struct hd_probe *probe) {
    struct model *d = self;
    d->trace = hd_trace_create(probe);
    if (!d->trace) return false;
    if (probe->op || probe->dram) d->lib.api->set_hook(d->lib.rtl, hd_trace_cycle, d->trace);
    return true;
}

static bool state(void *self, struct hd_probe_state *out) {
    struct model *d = self;
    for (int i = 0; i < HD_PROBE_ARENA; i++) {
        out->bytes[i] = d->lib.api->memory(d->lib.rtl, (enum hd_probe_memory)i, NULL);
        if (!out->bytes[i]) continue; /* a machine whose memories are not known by name */
        if (!d->memory[i]) d->memory[i] = malloc(out->bytes[i]);
        if (!d->memory[i]) return false;
        d->lib.api->memory(d->lib.rtl, (enum hd_probe_memory)i, d->memory[i]);
        out->memory[i] = d->memory[i];
    }
    return true;
}

static const struct hd_layer_counters *layers(void *self, int *out_n) {
    struct model *d = self;
    return d->lib.api->layers(d->lib.rtl, out_n);
}

/* ---- device --------------------------------------------------------------------------------- */

const struct hd_mach_backend hd_mach_rtl = {.scheme = "rtl",
                                            .dram = &hd_mach_dram,
                                            .create = create,
                                            .destroy = destroy,
                                            .reg_write = reg_write,
                                            .reg_read = reg_read,
                                            .run = run,
                                            .begin = begin,
                                            .waves = true,
                                            .layers = layers,
                                            .set_probe = set_probe,
                                            .state = state};

static hd_status open_rtl(hd_ctx *ctx, const struct hd_device_options *opt, hd_device **out) {
    return hd_mach_open(
        ctx, opt->jobs > 1 || (opt->jobs && opt->part_cycles) ? &hd_mach_rtl_jobs : &hd_mach_rtl,
        opt, out);
}

static hd_status probe(hd_ctx *ctx, const struct hd_device_options *opt,
                       struct hd_device_info *out) {
    (void)ctx;
    *out = (struct hd_device_info){.description = "Verilated RTL of the machine"};
    out->available = hd_rtl_can_build();
    if (opt && opt->machine.k)
        out->available = out->available || hd_rtl_has_model(&opt->machine);
    else /* which machine is not known yet: one model will do */
        for (int i = 0; i < hd_n_machines; i++)
            out->available = out->available || hd_rtl_has_model(&hd_machines[i]);
    if (!out->available) out->why_not = "its model is not built; run 'make rtl' in the repository";
    return HD_OK;
}

extern const struct hd_device_ops hd_device_rtl;
const struct hd_device_ops hd_device_rtl = {
    .scheme = "rtl",
    .doc = "cycle-exact simulation of the hardware (Verilator)",
    .sections = HD_RUNS_PROG,
    .cores = true,
    .probe = probe,
    .open = open_rtl,
    .close = hd_mach_close,
    .alloc = hd_mach_alloc,
    .free = hd_mach_free,
    .write = hd_mach_write,
    .read = hd_mach_read,
    .load = hd_mach_load,
    .unload = hd_mach_unload,
    .submit = hd_mach_submit,
    .wait = hd_mach_wait,
    .counters = hd_mach_counters,
};
