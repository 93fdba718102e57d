/* Lists of names in the options. */
#include "compiler/options/options.h"

#include <string.h>

bool hd_name_listed(const struct hd_name_list *list, const char *name) {
    for (int i = 0; i < list->n; i++)
        if (!strcmp(list->name[i], name)) return true;
    return false;
}
