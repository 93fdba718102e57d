/* One device for every machine that is reached through its registers; a backend gives the
 * registers.
 *
 * A device file (iss_dev.c, rtl_dev.c) defines its backend, an open and a probe, and fills the rest
 * of its struct hd_device_ops with the functions below. */
#ifndef HD_SIM_MACH_DEV_H
#define HD_SIM_MACH_DEV_H

#include "runtime/device/hal.h"
#include "sim/axi_mem.h"

struct hd_mach_block { /* memory that the host writes and the machine reaches */
    void *data;        /* the host's view */
    size_t bytes;
    uint64_t address; /* on the machine's bus */
    void *handle;     /* the backend's */
};
/* For machines that have DRAM of their own. Simulators have none: the host's memory is theirs. */
struct hd_mach_memory {
    hd_status (*alloc)(hd_ctx *ctx, void *self, struct hd_mach_block *b); /* b->bytes is set */
    void (*free)(void *self, struct hd_mach_block *b);
    /* Moves bytes off..off+bytes between data and the machine. */
    hd_status (*sync)(hd_ctx *ctx, void *self, struct hd_mach_block *b, size_t off, size_t bytes,
                      bool to_machine);
};

/* Simulated DRAM, as mach_dev.c uses it. A table, so that boards' drivers link without it. */
struct hd_mach_dram {
    hd_axi_mem *(*create)(uint32_t axi_bytes, const struct hd_mem_config *cfg);
    void (*destroy)(hd_axi_mem *m);
    void (*region)(hd_axi_mem *m, int index, uint64_t base, void *data, size_t bytes);
    const char *(*error)(const hd_axi_mem *m);
};
extern const struct hd_mach_dram hd_mach_dram; /* iss_dev.c */

struct hd_mach_backend {
    const char *scheme;
    /* The memory outlives the machine, which is idle then. */
    hd_status (*create)(hd_ctx *ctx, const struct hd_device_options *opt, hd_axi_mem *mem,
                        void **out);
    void (*destroy)(void *self);
    void (*reg_write)(void *self, uint32_t offset, uint32_t value);
    uint32_t (*reg_read)(void *self, uint32_t offset);
    /* Runs a started machine until done. False: cycle max_cycles came first; the next call goes on.
     */
    bool (*run)(void *self, uint64_t max_cycles);
    const struct hd_layer_counters *(*layers)(void *self, int *out_n);
    /* Calls op and dram of the probe in later runs. False: no memory. */
    bool (*set_probe)(void *self, const struct hd_probe *probe);
    /* (may be NULL) The program of the run that is started next. */
    void (*begin)(void *self, const uint32_t *program, size_t n_words);
    bool waves; /* takes hd_device_options.wave */
    /* Fills the on-chip memories of *out; valid until the next call. False: no memory. */
    bool (*state)(void *self, struct hd_probe_state *out);
    /* Exactly one of these. Without dram, `mem` of create is NULL. */
    const struct hd_mach_dram *dram;
    const struct hd_mach_memory *memory;
    int (*parts)(void *self); /* (may be NULL) that the last run was joined of */
    /* (may be NULL) Why the machine cannot be reached any more; NULL = it can. */
    const char *(*fault)(void *self);
};

/* ---- the simulators, iss_dev.c and rtl_dev.c ---- */
extern const struct hd_mach_backend hd_mach_iss, hd_mach_rtl;
extern const struct hd_mach_backend hd_mach_rtl_jobs; /* rtl_jobs.c: a run in parts */
/* The memory model that opt asks for, defaults filled in. */
hd_status hd_mach_mem_config(hd_ctx *ctx, const char *scheme, const struct hd_device_options *opt,
                             struct hd_mem_config *out);

hd_status hd_mach_open(hd_ctx *ctx, const struct hd_mach_backend *backend,
                       const struct hd_device_options *opt, hd_device **out);
void *hd_mach_self(hd_device *d); /* what create gave */
void hd_mach_close(hd_device *d);
hd_status hd_mach_alloc(hd_ctx *ctx, hd_device *d, size_t bytes, hd_buffer *out);
void hd_mach_free(hd_device *d, hd_buffer b);
hd_status hd_mach_write(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, const void *src,
                        size_t bytes);
hd_status hd_mach_read(hd_ctx *ctx, hd_device *d, hd_buffer b, size_t off, void *dst, size_t bytes);
hd_status hd_mach_load(hd_ctx *ctx, hd_device *d, const hd_model *m, int step, hd_exec **out);
void hd_mach_unload(hd_device *d, hd_exec *x);
hd_status hd_mach_submit(hd_ctx *ctx, hd_device *d, hd_exec *x, const hd_buffer *io, hd_fence *out);
hd_status hd_mach_wait(hd_ctx *ctx, hd_device *d, hd_fence fence, uint64_t timeout_ns);
hd_status hd_mach_counters(hd_ctx *ctx, hd_device *d, struct hd_counters *out);

/* ---- mach_report.c ---- */
/* Text of a stopped machine, from its registers: error, unit, operation; for a deadlock every unit.
 * `program` is what ran, n words. Returns the length as snprintf does. */
int hd_mach_report(const struct hd_mach_backend *b, void *self, const uint32_t *program, size_t n,
                   char *out, size_t bytes);
/* The state of every unit that has work, one line each, beginning with a newline. */
int hd_mach_state(const struct hd_mach_backend *b, void *self, const uint32_t *program, size_t n,
                  char *out, size_t bytes);

#endif
