/* Text tables. */
#include "compiler/command/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"

void hd_table_init(struct hd_table *t, const char *align) {
    *t = (struct hd_table){.cols = (int)strlen(align), .align = align};
}

void hd_table_cell(struct hd_table *t, const char *fmt, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->cells = realloc(t->cells, t->cap * sizeof *t->cells);
        HD_MEMORY(t->cells);
    }
    t->cells[t->n] = strdup(text);
    HD_MEMORY(t->cells[t->n]);
    t->n++;
}

void hd_table_cells(struct hd_table *t, const char *const *texts, int n) {
    for (int i = 0; i < n; i++) hd_table_cell(t, "%s", texts[i]);
}

void hd_table_free(struct hd_table *t) {
    for (size_t i = 0; i < t->n; i++) free(t->cells[i]);
    free(t->cells);
    *t = (struct hd_table){0};
}

/* Names of some converters are longer than a screen is wide: the first column keeps both ends. */
static void shorten(char *name) {
    enum { HEAD = 16, TAIL = 30 };
    size_t n = strlen(name);
    if (n <= HEAD + 2 + TAIL) return;
    memcpy(name + HEAD, "..", 2);
    memmove(name + HEAD + 2, name + n - TAIL, TAIL + 1);
}

void hd_table_print(struct hd_table *t, FILE *out) {
    int width[64] = {0};
    HD_ASSERT(t->cols <= 64 && t->n % (size_t)t->cols == 0);
    for (size_t i = 0; i < t->n && t->cols > 1; i += (size_t)t->cols) shorten(t->cells[i]);
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
    }
    hd_table_free(t);
}
