/* Private to compiler/tune: candidates, works and trials. */
#ifndef HD_TUNE_TUNE_INT_H
#define HD_TUNE_TUNE_INT_H

#include "compiler/loop/tunable.h"
#include "compiler/tune/tune.h"

struct hd_candidate {
    const char *schedule; /* as the database has it */
    double cycles;        /* by the model, on one processor */
};
struct hd_tune_host {
    int lanes; /* f32 in a register */
    int vnni;  /* sums of its widest vpdpbusd; 0 = it has none */
};
/* Every tile that fits the work and the processor, the cheapest by the model first. */
int hd_tune_space(hd_arena *a, const struct hd_tunable *w, const struct hd_tune_host *host,
                  struct hd_candidate **out);

/* "128x768x768": rows, columns and inner size of a product. False = it is none. */
bool hd_tune_product(const char *text, struct hd_tunable *out);
/* The same, of bytes when --only says so. */
bool hd_tune_product_asked(const struct hd_cmd *c, const char *text, struct hd_tunable *out);

struct hd_tune_work {
    const char *name;  /* in the database */
    const char *label; /* for people */
    int times;
    double macs;
    struct hd_tunable w; /* of cpu */
    const void *net;     /* of a GPU, with the number of the work there */
    size_t index;
};
struct hd_tune_list { /* each once, by name */
    struct hd_tune_work *work;
    size_t n, cap;
};
void hd_tune_list_add(hd_arena *a, struct hd_tune_list *l, const struct hd_tune_work *w);
/* Works of a network for cpu, or a product by its sizes; appended to the list. */
hd_status hd_tune_network(struct hd_cmd *c, hd_arena *a, const char *path, struct hd_tune_list *l);

/* What schedules are searched for. A state is the open device, a trial is one work with operands
 * and golden's results. */
struct hd_tune_device {
    const char *scheme, *works; /* what it has schedules for */
    hd_status (*start)(struct hd_cmd *c, int threads, void **out_state);
    void (*end)(void *state);
    hd_status (*find)(void *state, hd_arena *a, const char *path, struct hd_tune_list *l);
    hd_status (*open)(void *state, const struct hd_tune_work *w, void **out_trial);
    void (*close)(void *trial);
    const char *(*key)(const void *trial); /* the device in a database */
    /* What fits the work, the cheapest by a model first. */
    int (*space)(const void *trial, hd_arena *a, struct hd_candidate **out);
    /* Seconds of what the device does by itself, and its name. HD_INVALID when it differs from
     * golden. */
    hd_status (*other)(void *trial, double *out_seconds, const char **out_how);
    /* NULL, or seconds of oneDNN at a work of bytes, where its sums need not be exact; 0 = it is
     * not here, or has no good implementation. */
    hd_status (*onednn)(void *trial, double *out_seconds);
    /* Seconds of a schedule; 0: it does not fit, or differs from golden by more than the bounds. */
    hd_status (*schedule)(void *trial, const struct hd_candidate *s, double *out_seconds);
};
extern const struct hd_tune_device hd_tune_cpu, hd_tune_opencl, hd_tune_cuda;

#endif
