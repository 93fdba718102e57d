/* One command that is being carried out: its options, its context, what it tells the user.
 *
 * Everything that a command calls takes it first; what is read from the command line is fields of
 * struct hd_options here, and how it is read is compiler/cli/options.def.
 */
#ifndef HD_COMMAND_COMMAND_H
#define HD_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "compiler/command/json.h"
#include "isa/isa.h"
#include "runtime/base/status.h"
#include "runtime/device/hal.h"

/* The exit status, nothing else. */
enum hd_exit { HD_EXIT_DONE = 0, HD_EXIT_FAILED = 1, HD_EXIT_USAGE = 2 };

enum { HD_OPTION_TIMES = 32 }; /* how often --set and --shape may be given */

struct hd_wave_options {
    const char *path;
    uint64_t from, cycles;
};
struct hd_trace_options {
    const char *path, *level;
    uint64_t from, cycles;
    struct hd_wave_options wave;
};
struct hd_calibrate_options { /* of heddle quantize and heddle eval */
    const char *path, *range, *activations, *mean, *scale, *labels, *mixed;
    int resize;
    bool symmetric, bias_correction, equalize, bgr;
};
struct hd_serve_choice { /* of heddle serve */
    const char *socket, *mode;
    bool stdio;
};
struct hd_help_options { /* of heddle help */
    const char *completion;
    bool man;
};
struct hd_stage_files { /* texts that are read */
    const char *layers, *plan, *ops;
};
struct hd_list_option {
    const char *text[HD_OPTION_TIMES];
    int n;
};
struct hd_explore_options { /* of heddle explore, sweep and advise */
    const char *board, *objective, *confirm;
    struct hd_list_option limits;
    int jobs;
};

struct hd_import_options { /* how networks are read */
    struct hd_list_option shapes, states, values;
    const char *rounding;
};

struct hd_run_choice { /* of devices that run */
    bool functional, no_fallback;
    uint64_t max_cycles, part_cycles;
    const char *db, *load_state, *save_state, *only, *precision;
    int seconds, batch, measure; /* of tune; of choose */
    int steps;
};

struct hd_train_choice {
    const char *memory, *resume, *prune;
    int shards;
    bool blocks;
};

struct hd_picture_choice {
    const char *color, *fold;
};

struct hd_plan_choice { /* how plans are made */
    struct hd_list_option knobs;
    bool no_latency_hiding;
    int cache_mib; /* for models that were compiled; 0: none are kept */
};

struct hd_options {
    const char *device, *devices, *machine, *inputs, *outputs, *dump, *json, *out, *emit, *pass,
        *report, *select, *keep, *stage, *csv, *list, *schedule;
    struct hd_list_option sets;
    struct hd_import_options import;
    struct hd_trace_options trace;
    struct hd_calibrate_options calibrate;
    struct hd_serve_choice serve;
    struct hd_help_options about;
    struct hd_stage_files texts;
    struct hd_explore_options explore;
    uint64_t seed;
    struct hd_mem_options mem;
    struct hd_run_choice run;
    struct hd_train_choice train;
    struct hd_picture_choice picture;
    int threads, repeat, images;
    uint64_t jitter_first, jitter_last; /* seeds, when mem.jitter */
    bool full, cycles, bisect, help;
    struct hd_plan_choice plan;
};

struct hd_cmd {
    hd_ctx *ctx;
    const char *name; /* of the command */
    struct hd_options opt;
    const struct hd_probe *probe; /* for devices that are opened; NULL = none */
    const struct hd_wave *wave;   /* the same */
    bool free_issue;              /* of them: see hd_device_options */
    const char *together;         /* devices that run one network: "A,B"; NULL = one device */
    bool timed;                   /* ... that they take the time of each step */
    int jobs;                     /* of one run on device rtl; 0 = one */
    char **args;                  /* what is not an option */
    int n_args;
    double start; /* for progress */
    bool progress_shown;
};

/* Prints "heddle run: <message of ctx>" and gives HD_EXIT_FAILED. */
int hd_cmd_fail(struct hd_cmd *c);
int hd_cmd_usage(struct hd_cmd *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
double hd_seconds(void); /* monotonic */
/* Shows work in progress on a terminal once it has taken over a second; hd_cmd_progress_end clears
 * it. */
void hd_cmd_progress(struct hd_cmd *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hd_cmd_progress_end(struct hd_cmd *c);

/* A new folder for what the command needs until it ends, below TMPDIR; the caller removes it. */
hd_status hd_cmd_temp_folder(struct hd_cmd *c, hd_arena *a, const char **out);

/* Writes obj to --json (a file, or - for stdout) and drops it; the exit status. */
int hd_cmd_write_json(struct hd_cmd *c, json_object *obj);
/* True when JSON goes to stdout, so that tables must not. */
bool hd_cmd_json_on_stdout(const struct hd_cmd *c);

/* --machine and --set applied, or the base machine. */
hd_status hd_cmd_machine(struct hd_cmd *c, struct hd_machine *out);
/* The memory model in force, defaults filled in. */
struct hd_mem_options hd_cmd_mem(const struct hd_cmd *c, const struct hd_machine *m);
/* What the options say of a device that is opened on machine m. */
void hd_cmd_device_options(const struct hd_cmd *c, const struct hd_machine *m,
                           struct hd_device_options *out);
bool hd_is_graph_device(const char *scheme); /* or all of a list of them */
/* --devices of a command whose devices run one network together becomes its device. */
void hd_cmd_together(struct hd_cmd *c);
#endif
