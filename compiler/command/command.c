/* Messages, progress, JSON, and what the options say of machine and device. */
#include "compiler/command/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/io.h"
#include "runtime/runtime.h"

int hd_cmd_fail(struct hd_cmd *c) {
    hd_cmd_progress_end(c);
    fflush(stdout);
    fprintf(stderr, "heddle %s: %s\n", c->name, hd_message(c->ctx));
    return HD_EXIT_FAILED;
}

int hd_cmd_usage(struct hd_cmd *c, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fflush(stdout);
    fprintf(stderr, "heddle %s: ", c->name);
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "; see heddle %s --help\n", c->name);
    va_end(ap);
    return HD_EXIT_USAGE;
}

double hd_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void hd_cmd_progress(struct hd_cmd *c, const char *fmt, ...) {
    if (!isatty(STDERR_FILENO) || hd_seconds() - c->start < 1.0) return;
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "\r\033[K");
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fflush(stderr);
    c->progress_shown = true;
}

void hd_cmd_progress_end(struct hd_cmd *c) {
    if (c->progress_shown) fprintf(stderr, "\r\033[K");
    c->progress_shown = false;
}

bool hd_cmd_json_on_stdout(const struct hd_cmd *c) {
    return c->opt.json && !strcmp(c->opt.json, "-");
}

hd_status hd_cmd_temp_folder(struct hd_cmd *c, hd_arena *a, const char **out) {
    const char *below = getenv("TMPDIR");
    char *folder = hd_sprintf(a, "%s/heddle-XXXXXX", below && *below ? below : "/tmp");
    if (!mkdtemp(folder))
        return hd_fail(c->ctx, HD_IO, "%s: cannot make this folder: %s", folder, strerror(errno));
    *out = folder;
    return HD_OK;
}

int hd_cmd_write_json(struct hd_cmd *c, json_object *obj) {
    int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
    const char *text = json_object_to_json_string_ext(obj, flags);
    int status = HD_EXIT_DONE;
    if (hd_cmd_json_on_stdout(c)) {
        puts(text);
    } else {
        struct hd_buf b = {0};
        hd_buf_put(&b, text, strlen(text));
        hd_buf_put(&b, "\n", 1);
        if (hd_file_write(c->ctx, c->opt.json, b.data, b.n) != HD_OK) status = hd_cmd_fail(c);
        hd_buf_free(&b);
    }
    json_object_put(obj);
    return status;
}

hd_status hd_cmd_machine(struct hd_cmd *c, struct hd_machine *out) {
    TRY(hd_machine_load(c->ctx, c->opt.machine ? c->opt.machine : "base", out));
    for (int i = 0; i < c->opt.sets.n; i++) TRY(hd_machine_set(c->ctx, out, c->opt.sets.text[i]));
    return hd_machine_check(c->ctx, out);
}

bool hd_is_graph_device(const char *scheme) {
    for (const char *p = scheme; *p || p == scheme;) {
        char name[128];
        size_t n = strcspn(p, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, p);
        const struct hd_device_ops *d = hd_device_by_scheme(name);
        if (!d || d->sections & HD_RUNS_PROG) return false;
        p += n + (p[n] == ',');
    }
    return true;
}

void hd_cmd_together(struct hd_cmd *c) {
    if (!c->opt.devices) return;
    c->opt.device = c->opt.devices;
    if (strchr(c->opt.devices, ',')) c->together = c->opt.devices;
}

static enum hd_precision precision_of(const char *name) {
    for (int i = 0; name && i < HD_PRECISIONS; i++)
        if (!strcmp(name, hd_precision_names[i])) return (enum hd_precision)i;
    return HD_PRECISION_f32;
}

void hd_cmd_device_options(const struct hd_cmd *c, const struct hd_machine *m,
                           struct hd_device_options *out) {
    *out = (struct hd_device_options){.machine = *m,
                                      .mem = c->opt.mem,
                                      .threads = c->opt.threads,
                                      .jobs = c->jobs,
                                      .part_cycles = c->opt.run.part_cycles,
                                      .functional = c->opt.run.functional,
                                      .max_cycles = c->opt.run.max_cycles,
                                      .no_fallback = c->opt.run.no_fallback,
                                      .db = c->opt.run.db,
                                      .precision = precision_of(c->opt.run.precision),
                                      .timed = c->timed,
                                      .free_issue = c->free_issue,
                                      .probe = c->probe,
                                      .wave = c->wave};
}

struct hd_mem_options hd_cmd_mem(const struct hd_cmd *c, const struct hd_machine *m) {
    struct hd_mem_options o = c->opt.mem;
    if (!o.latency) o.latency = HD_DEFAULT_mem_latency;
    if (!o.bytes_per_cycle) o.bytes_per_cycle = hd_axi_bytes(m);
    if (!o.outstanding) o.outstanding = HD_DEFAULT_mem_outstanding;
    return o;
}
