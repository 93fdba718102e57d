/* The device table: what a device implements. One static const table per device, one row in
 * devices.def. runtime/device/null_dev.c is the commented skeleton to copy. */
#ifndef HD_DEVICE_HAL_H
#define HD_DEVICE_HAL_H

#include "isa/isa.h"
#include "runtime/base/status.h"
#include "runtime/device/model.h"
#include "runtime/device/probe.h"
#include "runtime/device/wave.h"

typedef struct hd_device hd_device; /* defined by each device */
typedef struct hd_exec hd_exec;     /* a loaded step, defined by each device */
typedef struct hd_buffer {
    uint64_t id; /* 0 = none */
} hd_buffer;
typedef uint64_t hd_fence;

struct hd_mem_options { /* simulated DRAM; zero in a field = the machine's default */
    uint32_t latency, bytes_per_cycle, outstanding;
    bool jitter;
    uint64_t jitter_seed;
};

/* Told of an output of a whole graph as soon as nothing of the run writes it again, in the thread
 * that runs. data: dense, in this process, good until the next run. */
struct hd_made {
    void (*output)(void *user, int output, const void *data);
    void *user;
};

/* What operands of float products may be rounded to, where a device has it. */
enum hd_precision {
#define PRECISION(name, ...) HD_PRECISION_##name,
#include "runtime/device/precision.def"
    HD_PRECISIONS
};
extern const char *const hd_precision_names[HD_PRECISIONS];

struct hd_device_options {
    const char *name;          /* by which it was asked for: a remote device has its host in it */
    struct hd_machine machine; /* simulators build this machine; boards must be it */
    struct hd_mem_options mem;
    uint64_t watchdog_cycles; /* 0 = default */
    uint64_t max_cycles;      /* of a program, in steps of HD_N_limit_unit; 0 = default */
    int threads;              /* 0 = default */
    int jobs;                 /* rtl: processes that each run parts of a program; 0, 1 = none */
    uint64_t part_cycles;     /* of such a part, at least; 0 = default */
    bool timed;               /* GRAPH devices: take the time of each step (see steps); sessions:
                               * that of HOST steps with warm caches */
    /* Sessions of one GRAPH device that lends: runs use their arrays where these lie, without
     * copies. No array may overlap one that is written. The session keeps neither inputs nor
     * outputs: each run gets all states, and hd_session_value gives only other values. */
    bool in_place;
    bool free_issue;  /* iss: operations reach their units at no cost; what fetch and issue lose is
                         the difference */
    bool functional;  /* iss: results without time, sooner */
    bool no_fallback; /* opencl, cuda: a node that would run on the host is an error */
    enum hd_precision precision; /* cuda: of float products */
    int core;                    /* devices of several cores: which, from 0 */
    hd_device *beside; /* ... of a core but the first: the device of that one, which is closed after
                        * this one */
    const char *db;    /* cpu: file of schedules that were measured (heddle tune); NULL = none */
    const struct hd_probe *probe; /* NULL = none; outlives the device. Simulators call it */
    const struct hd_wave *wave;   /* NULL = none; the same. Device rtl alone */
    const struct hd_made *made;   /* NULL = none; the same. Device cpu alone */
};

struct hd_unit_counters {
    uint64_t busy, stall_sem, stall_mem, stall_bank;
};

struct hd_layer_counters { /* index = tag */
    uint64_t cycles;       /* belongs to the layer whose MX, else VX operation is in work */
    uint64_t mx_busy, vx_busy, read_bytes, write_bytes;
};

struct hd_counters { /* of the last finished run */
    uint64_t cycles, read_bytes, write_bytes, code_bytes;
    struct hd_unit_counters unit[HD_UNITS];
    const struct hd_layer_counters
        *layers; /* the device's, valid until the next submit; NULL = none */
    int n_layers;
    int n_parts; /* rtl on several processes: parts that it was joined of; else 0 */
    /* of the HOST steps, processor time; the session's. With the option `timed` as they go once
     * they have run: before them, a simulated machine has put all else out of the caches. */
    uint64_t host_ns;
};

struct hd_device_info {
    const char *description;
    bool available;
    const char *why_not; /* when not available: reason and what to do */
};

struct hd_exec_step {            /* what a GRAPH device made of some nodes */
    const char *node, *op, *how; /* the first node (NULL: a change of layout), who computes it */
    int n_nodes;                 /* nodes fused into it */
    double seconds;              /* of the fastest run, 0 unless timed */
    int64_t macs, bytes;         /* opencl, cuda: its products; its operands and results */
    bool bytewise;               /* its products are of bytes */
};

/* The same device of several processes, each with one of its own. What goes between them is moved,
 * bit for bit. */
enum { HD_PEERS_ID = 128 }; /* bytes that name a group of processes */
struct hd_peers_move {      /* bytes of each process; process r's go to `at` + r * bytes */
    hd_buffer from, to;
    size_t at, bytes;
};
struct hd_peers_ops {
    /* NULL: there is a way. Else the reason and what to do. */
    const char *(*why_not)(void);
    /* HD_PEERS_ID bytes: one process makes them, and all join with them, at once. */
    hd_status (*id)(hd_ctx *, void *out);
    /* Once per device. Its buffers are what is written. */
    hd_status (*join)(hd_ctx *, hd_device *, const void *id, int me, int n);
    /* source: another opened device of this process, the same one. Nothing runs there. All call
     * with the same sizes; when it returns the bytes are there. HD_INVALID: outside of a buffer. */
    hd_status (*gather)(hd_ctx *, hd_device *, hd_device *source, const struct hd_peers_move *,
                        int n);
};

enum { HD_RUNS_GRAPH = 1, HD_RUNS_PROG = 2 };

/* (opt) = may be NULL. Every call takes the device's own state only; two devices may be used from
 * two threads. */
struct hd_device_ops {
    const char *scheme, *doc;
    uint32_t sections; /* HD_RUNS_* */
    bool is_board;     /* processes must not run on it at the same time */
    bool cores;        /* opens each core of a machine that has several; else it is the first */
    /* (opt) fills *out without opening; NULL = always available */
    hd_status (*probe)(hd_ctx *, const struct hd_device_options *, struct hd_device_info *out);
    hd_status (*open)(hd_ctx *, const struct hd_device_options *, hd_device **out);
    void (*close)(hd_device *);
    hd_status (*alloc)(hd_ctx *, hd_device *, size_t bytes, hd_buffer *out);
    void (*free)(hd_device *, hd_buffer);
    /* (opt) a buffer of memory that is the caller's, and lies there until it is freed: what host
     * and device write is there for both, without write and read. */
    hd_status (*lend)(hd_ctx *, hd_device *, void *data, size_t bytes, hd_buffer *out);
    hd_status (*write)(hd_ctx *, hd_device *, hd_buffer, size_t off, const void *src, size_t bytes);
    hd_status (*read)(hd_ctx *, hd_device *, hd_buffer, size_t off, void *dst, size_t bytes);
    /* Loads one step (step < 0: the whole graph, for GRAPH devices: inputs and outputs are the
     * model's, and outputs are followed by every other value). The model outlives the exec. */
    hd_status (*load)(hd_ctx *, hd_device *, const hd_model *, int step, hd_exec **out);
    void (*unload)(hd_device *, hd_exec *);
    /* GRAPH: io = inputs then outputs, dense buffers. PROG: io[0] = the arena. */
    hd_status (*submit)(hd_ctx *, hd_device *, hd_exec *, const hd_buffer *io, hd_fence *out);
    hd_status (*wait)(hd_ctx *, hd_device *, hd_fence, uint64_t timeout_ns);
    hd_status (*counters)(hd_ctx *, hd_device *, struct hd_counters *out); /* (opt) */
    /* (opt) GRAPH: the steps of an exec, its own, valid until the next submit; returns how many */
    int (*steps)(hd_exec *, const struct hd_exec_step **out);
    const struct hd_peers_ops *peers; /* (opt) */
};

extern const struct hd_device_ops *const hd_devices[]; /* from devices.def, ends with NULL */
/* By name: a scheme, or HOST/scheme for that device of another computer (docs/remote.md), whose
 * table wants the name in its options. NULL = none. */
const struct hd_device_ops *hd_device_by_scheme(const char *scheme);
/* The same; libheddle_rt loads the library that has it. HD_UNSUPPORTED, HD_MISMATCH. */
hd_status hd_device_find(hd_ctx *ctx, const char *scheme, const struct hd_device_ops **out);

/* What a library of further devices exports as `hd_plugin` (runtime/plugin_host.c,
 * plugin_sim.c). */
#define HD_SONAME      "1" /* of our shared libraries; the makefiles and packages read it here */
#define HD_PLUGIN_HOST "libheddle_host.so." HD_SONAME
#define HD_PLUGIN_SIM  "libheddle_sim.so." HD_SONAME
struct hd_plugin {
    const char *version;
    uint32_t isa_hash;
    const struct hd_device_ops *const *devices; /* ends with NULL */
};

#endif
