/* Checks of options before a command begins, so that no work is lost at its end. */
#include <string.h>

#include "compiler/cli/cli.h"
#include "compiler/query/query.h"
#include "runtime/base/io.h"

static hd_status check_devices(hd_ctx *ctx, hd_arena *a, const char *list) {
    const struct hd_device_ops *d;
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        TRY(hd_device_find(ctx, hd_strndup(a, p, n), &d));
        p += n + (p[n] == ',');
    }
    return HD_OK;
}

/* -o is a folder, which goes on being filled. */
static bool takes_folder(const struct hd_cmd *c) {
    return !strcmp(c->name, "explore") || !strcmp(c->name, "sweep");
}

static hd_status check(struct hd_cmd *c, hd_arena *a, int id, const char *text) {
    const struct hd_query *q;
    switch (cli_options[id].kind) {
    case CLI_OUTPUT: /* -o makes its folder, reports beside it do not */
        if (!strcmp(text, "-")) return HD_OK;
        if (id == OPT_OUT && takes_folder(c))
            return hd_file_prepare(c->ctx, hd_sprintf(a, "%s/%s", text, HD_EXPLORE_JOURNAL));
        return id == OPT_OUT ? hd_file_prepare(c->ctx, text) : hd_file_writable(c->ctx, text);
    case CLI_SELECTOR:
        return hd_query_parse(c->ctx, a, text, &q);
    case CLI_DEVICES:
        return check_devices(c->ctx, a, text);
    default:
        return HD_OK;
    }
}

int cli_check(struct hd_cmd *c) {
    hd_arena *a = hd_arena_create();
    hd_status s = HD_OK;
    for (int i = 0; i < CLI_OPTIONS && s == HD_OK; i++) {
        const void *field = (const char *)&c->opt + cli_options[i].offset;
        bool is_text = cli_options[i].size == sizeof(char *) && cli_options[i].kind >= CLI_OUTPUT;
        const char *text = is_text ? *(const char *const *)field : NULL;
        if (text) s = check(c, a, i, text);
    }
    hd_arena_destroy(a);
    return s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
}
