/* Device "iss": the instruction set simulator. */
#include "sim/iss.h"
#include "sim/mach_dev.h"

static hd_status create(hd_ctx *ctx, const struct hd_device_options *opt, hd_axi_mem *mem,
                        void **out) {
    *out = hd_iss_create(&opt->machine, mem);
    if (*out) hd_iss_set_free_issue(*out, opt->free_issue);
    if (*out) hd_iss_set_functional(*out, opt->functional);
    return *out ? HD_OK
                : hd_fail(ctx, HD_NOMEM, "iss: no memory for machine %s", opt->machine.name);
}

static void destroy(void *self) {
    hd_iss_destroy(self);
}
static void reg_write(void *self, uint32_t offset, uint32_t v) {
    hd_iss_reg_write(self, offset, v);
}
static uint32_t reg_read(void *self, uint32_t offset) {
    return hd_iss_reg_read(self, offset);
}
static bool run(void *self, uint64_t max_cycles) {
    return hd_iss_run(self, max_cycles);
}
static const struct hd_layer_counters *layers(void *self, int *out_n) {
    return hd_iss_layers(self, out_n);
}

static bool set_probe(void *self, const struct hd_probe *probe) {
    hd_iss_set_probe(self, probe);
    return true;
}
static bool state(void *self, struct hd_probe_state *out) {
    out->memory[HD_PROBE_XM] = hd_iss_memory(self, HD_ISS_XM, &out->bytes[HD_PROBE_XM]);
    out->memory[HD_PROBE_AM] = hd_iss_memory(self, HD_ISS_AM, &out->bytes[HD_PROBE_AM]);
    out->memory[HD_PROBE_WM] = hd_iss_memory(self, HD_ISS_WM, &out->bytes[HD_PROBE_WM]);
    out->memory[HD_PROBE_PM] = hd_iss_memory(self, HD_ISS_PM, &out->bytes[HD_PROBE_PM]);
    return true;
}

const struct hd_mach_dram hd_mach_dram = {hd_axi_mem_create, hd_axi_mem_destroy, hd_axi_mem_region,
                                          hd_axi_mem_error};
const struct hd_mach_backend hd_mach_iss = {.scheme = "iss",
                                            .dram = &hd_mach_dram,
                                            .create = create,
                                            .destroy = destroy,
                                            .reg_write = reg_write,
                                            .reg_read = reg_read,
                                            .run = run,
                                            .layers = layers,
                                            .set_probe = set_probe,
                                            .state = state};

static hd_status open_iss(hd_ctx *ctx, const struct hd_device_options *opt, hd_device **out) {
    return hd_mach_open(ctx, &hd_mach_iss, opt, out);
}

extern const struct hd_device_ops hd_device_iss;
const struct hd_device_ops hd_device_iss = {
    .scheme = "iss",
    .doc = "fast simulator of the machine: results and cycles of the RTL",
    .sections = HD_RUNS_PROG,
    .cores = true,
    .open = open_iss,
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
