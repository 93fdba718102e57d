/* Lists of names in the options, and the stages that they ask for. */
#include "compiler/options/options.h"

#include <string.h>

bool hd_name_listed(const struct hd_name_list *list, const char *name) {
    for (int i = 0; i < list->n; i++)
        if (!strcmp(list->name[i], name)) return true;
    return false;
}

bool hd_dumps(const struct hd_compile_options *opt, const char *stage) {
    return opt->dump && (!strcmp(opt->dump, stage) || !strcmp(opt->dump, "all"));
}
