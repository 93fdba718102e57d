/* Text tables. */
#ifndef HD_COMMAND_TABLE_H
#define HD_COMMAND_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct hd_table {
    int cols;
    const char *align; /* per column 'l' or 'r' */
    char **cells;
    size_t n, cap;
};
void hd_table_init(struct hd_table *t, const char *align);
/* Appends one cell; rows fill up from left to right. */
void hd_table_cell(struct hd_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hd_table_cells(struct hd_table *t, const char *const *texts, int n);
/* Prints and frees it; of texts of more than 48 bytes in the first column both ends. */
void hd_table_print(struct hd_table *t, FILE *out);
/* One that is not printed. */
void hd_table_free(struct hd_table *t);

#endif
