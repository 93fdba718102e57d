/* Text tables, progress, messages, small JSON helpers. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compiler/cli/cli.h"
#include "runtime/base/io.h"

int cli_fail(struct cli *c) {
    cli_progress_end(c);
    fflush(stdout);
    fprintf(stderr, "heddle %s: %s\n", c->command->name, hd_message(c->ctx));
    return CLI_FAILED;
}

int cli_usage(struct cli *c, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fflush(stdout);
    fprintf(stderr, "heddle %s: ", c->command->name);
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "; see heddle %s --help\n", c->command->name);
    va_end(ap);
    return CLI_USAGE;
}

double cli_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void cli_progress(struct cli *c, const char *fmt, ...) {
    if (!isatty(STDERR_FILENO) || cli_now() - c->start < 1.0) return;
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "\r\033[K");
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fflush(stderr);
    c->progress_shown = true;
}

void cli_progress_end(struct cli *c) {
    if (c->progress_shown) fprintf(stderr, "\r\033[K");
    c->progress_shown = false;
}

/* ---- tables ------------------------------------------------------------------------------- */

void cli_table_init(struct cli_table *t, const char *align) {
    *t = (struct cli_table){.cols = (int)strlen(align), .align = align};
}

void cli_cell(struct cli_table *t, const char *fmt, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->cells = realloc(t->cells, t->cap * sizeof *t->cells);
        HD_ASSERT(t->cells != NULL);
    }
    t->cells[t->n] = strdup(text);
    HD_ASSERT(t->cells[t->n] != NULL);
    t->n++;
}

void cli_cells(struct cli_table *t, const char *const *texts, int n) {
    for (int i = 0; i < n; i++) cli_cell(t, "%s", texts[i]);
}

void cli_table_print(struct cli_table *t, FILE *out) {
    int width[64] = {0};
    HD_ASSERT(t->cols <= 64 && t->n % (size_t)t->cols == 0);
    for (size_t i = 0; i < t->n; i++) {
        int w = (int)strlen(t->cells[i]), col = (int)(i % (size_t)t->cols);
        if (w > width[col]) width[col] = w;
    }
    for (size_t i = 0; i < t->n; i++) {
        int col = (int)(i % (size_t)t->cols);
        bool last = col == t->cols - 1;
        if (t->align[col] == 'r')
            fprintf(out, "%*s", width[col], t->cells[i]);
        else
            fprintf(out, "%-*s", last ? 0 : width[col], t->cells[i]);
        fputs(last ? "\n" : "  ", out);
        free(t->cells[i]);
    }
    free(t->cells);
    *t = (struct cli_table){0};
}

/* ---- JSON --------------------------------------------------------------------------------- */

bool cli_json_on_stdout(const struct cli *c) {
    return c->opt.json && !strcmp(c->opt.json, "-");
}

int cli_write_json(struct cli *c, json_object *obj) {
    int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
    const char *text = json_object_to_json_string_ext(obj, flags);
    int status = CLI_DONE;
    if (cli_json_on_stdout(c)) {
        puts(text);
    } else {
        struct hd_buf b = {0};
        hd_buf_put(&b, text, strlen(text));
        hd_buf_put(&b, "\n", 1);
        if (hd_file_write(c->ctx, c->opt.json, b.data, b.n) != HD_OK) status = cli_fail(c);
        hd_buf_free(&b);
    }
    json_object_put(obj);
    return status;
}

void cli_add_str(json_object *o, const char *key, const char *v) {
    json_object_object_add(o, key, v ? json_object_new_string(v) : NULL);
}

void cli_add_int(json_object *o, const char *key, int64_t v) {
    json_object_object_add(o, key, json_object_new_int64(v));
}

void cli_add_num(json_object *o, const char *key, double v) {
    char text[32];
    snprintf(text, sizeof text, "%.9g", v);
    json_object_object_add(o, key, json_object_new_double_s(v, text));
}

json_object *cli_shape_json(const int64_t *dim, int rank) {
    json_object *a = json_object_new_array();
    for (int i = 0; i < rank; i++) json_object_array_add(a, json_object_new_int64(dim[i]));
    return a;
}
