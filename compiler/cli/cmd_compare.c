/* heddle compare: models on devices, every value that two of them give. */
#include <string.h>

#include "compiler/cli/cli.h"
#include "compiler/compare/compare.h"

int cmd_compare(struct hd_cmd *c) {
    if (!c->opt.devices || (!strchr(c->opt.devices, ',') && c->n_args < 2))
        return hd_cmd_usage(c, "--devices: got '%s', want at least two names: --devices golden,iss",
                            c->opt.devices ? c->opt.devices : "");
    return hd_compare_models(c);
}
