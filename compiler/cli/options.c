/* Reads the options of a command line into struct hd_options, as options.def says. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cli/cli.h"

#define FIELD(f) offsetof(struct hd_options, f), sizeof(((struct hd_options *)0)->f)
const struct cli_option cli_options[CLI_OPTIONS] = {
#define OPTION(id, name, letter, kind, field, arg, min, max, doc)                                  \
    {name, arg, doc, letter, CLI_##kind, FIELD(field), min, max},
#include "compiler/cli/options.def"
};

bool cli_takes(const struct cli_command *cmd, int o) {
    return o == OPT_HELP || (cmd->options >> o & 1);
}

/* A whole number in min..max, decimal or 0x. */
static int number(struct hd_cmd *c, const char *name, const char *text, uint64_t min, uint64_t max,
                  uint64_t *out) {
    char *end;
    errno = 0;
    uint64_t v = strtoull(text, &end, 0);
    if (end == text || *end || errno || text[0] == '-' || v < min || v > max)
        return hd_cmd_usage(c, "--%s: got '%s', want a whole number from %llu to %llu", name, text,
                            (unsigned long long)min, (unsigned long long)max);
    *out = v;
    return HD_EXIT_DONE;
}

static int store_number(struct hd_cmd *c, const struct cli_option *o, const char *text,
                        void *field) {
    uint64_t v = 0;
    int s = number(c, o->name, text, o->min, o->max, &v);
    if (s != HD_EXIT_DONE) return s;
    if (o->size == sizeof v)
        *(uint64_t *)field = v;
    else
        *(uint32_t *)field = (uint32_t)v; /* int and uint32_t; the row's max fits both */
    return s;
}

/* "5" or "1..20". */
static int store_seeds(struct hd_cmd *c, const struct cli_option *o, const char *text) {
    char first[32];
    const char *dots = strstr(text, "..");
    size_t n = dots ? (size_t)(dots - text) : strlen(text);
    if (n >= sizeof first) n = sizeof first - 1;
    memcpy(first, text, n);
    first[n] = 0;
    struct hd_options *p = &c->opt;
    int s = number(c, o->name, first, 0, UINT64_MAX - 1, &p->jitter_first);
    if (s != HD_EXIT_DONE) return s;
    p->jitter_last = p->jitter_first;
    if (dots) s = number(c, o->name, dots + 2, p->jitter_first, UINT64_MAX - 1, &p->jitter_last);
    if (s != HD_EXIT_DONE) return s;
    if (dots && strcmp(c->name, "compare"))
        return hd_cmd_usage(c, "--%s: got range '%s', want one seed; only compare runs a range",
                            o->name, text);
    p->mem.jitter = true;
    p->mem.jitter_seed = p->jitter_first;
    return HD_EXIT_DONE;
}

/* One of the words of o->arg, which stand between bars. */
static int store_word(struct hd_cmd *c, const struct cli_option *o, const char *text,
                      const char **field) {
    char list[100] = "";
    for (const char *w = o->arg; *w;) {
        size_t length = strcspn(w, "|"), n = strlen(list);
        if (length == strlen(text) && !memcmp(w, text, length)) {
            *field = text;
            return HD_EXIT_DONE;
        }
        snprintf(list + n, sizeof list - n, "%s%.*s", n ? ", " : "", (int)length, w);
        w += length + (w[length] == '|');
    }
    return hd_cmd_usage(c, "--%s: got '%s', want one of %s", o->name, text, list);
}

static int store_item(struct hd_cmd *c, const struct cli_option *o, const char *text,
                      struct hd_list_option *list) {
    if (list->n == HD_OPTION_TIMES)
        return hd_cmd_usage(c, "--%s: given more than %d times", o->name, HD_OPTION_TIMES);
    list->text[list->n++] = text;
    return HD_EXIT_DONE;
}

static int store(struct hd_cmd *c, const struct cli_option *o, const char *text) {
    void *field = (char *)&c->opt + o->offset;
    switch (o->kind) {
    case CLI_FLAG:
        *(bool *)field = true;
        return HD_EXIT_DONE;
    case CLI_TEXT:
    case CLI_FILE:
    case CLI_OUTPUT:
    case CLI_SELECTOR:
    case CLI_DEVICES:
        *(const char **)field = text;
        return HD_EXIT_DONE;
    case CLI_WORD:
        return store_word(c, o, text, field);
    case CLI_NUMBER:
        return store_number(c, o, text, field);
    case CLI_LIST:
        return store_item(c, o, text, field);
    case CLI_SEEDS:
        return store_seeds(c, o, text);
    }
    return HD_EXIT_USAGE;
}

int cli_parse(struct hd_cmd *c, const struct cli_command *cmd, int argc, char **argv) {
    struct option longs[CLI_OPTIONS + 1] = {{0}};
    char shorts[2 * CLI_OPTIONS + 2] = ":";
    size_t n_shorts = 1;
    int n = 0;
    for (int i = 0; i < CLI_OPTIONS; i++) {
        const struct cli_option *o = &cli_options[i];
        if (!cli_takes(cmd, i)) continue;
        longs[n++] =
            (struct option){o->name, o->arg ? required_argument : no_argument, NULL, 1000 + i};
        if (!o->letter) continue;
        shorts[n_shorts++] = o->letter;
        if (o->arg) shorts[n_shorts++] = ':';
    }
    c->opt = (struct hd_options){.device = cmd->device, .seed = 1, .repeat = 1, .run.measure = 6};
    opterr = 0;
    for (int k; (k = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (k == ':') return hd_cmd_usage(c, "option %s needs a value", argv[optind - 1]);
        if (k == '?' && optopt > 0 && optopt < 256)
            return hd_cmd_usage(c, "unknown option -%c", optopt);
        if (k == '?') return hd_cmd_usage(c, "unknown option %s", argv[optind - 1]);
        int i = k - 1000;
        for (int o = 0; i < 0; o++)
            if (cli_options[o].letter == k) i = o;
        int s = store(c, &cli_options[i], optarg);
        if (s != HD_EXIT_DONE) return s;
    }
    c->args = argv + optind;
    c->n_args = argc - optind;
    if (c->opt.help) return HD_EXIT_DONE;
    if (c->n_args < cmd->min_args)
        return hd_cmd_usage(c, "an argument is missing: heddle %s %s", cmd->name, cmd->args);
    if (c->n_args > cmd->max_args)
        return hd_cmd_usage(c, "'%s' is one argument too many: heddle %s %s",
                            c->args[cmd->max_args], cmd->name, cmd->args);
    return HD_EXIT_DONE;
}
