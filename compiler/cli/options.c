/* The options of all commands, one table: name, argument, meaning; and how each is stored. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cli/cli.h"

static const struct {
    const char *name, *arg, *doc;
    char letter;
} table[OPT_COUNT] = {
    [OPT_DEVICE] = {"device", "NAME", "device to run on; heddle devices lists them", 0},
    [OPT_DEVICES] = {"devices", "A,B,...", "devices to compare; the first is the reference", 0},
    [OPT_MACHINE] = {"machine", "NAME|FILE", "machine (default base); heddle machines lists them",
                     0},
    [OPT_SET] = {"set", "KEY=VALUE", "change one machine parameter; may be repeated", 0},
    [OPT_INPUTS] = {"inputs", "PATH",
                    "test_data_set_N folder, .pb, .npy or .npz (default: first data set beside the "
                    "model, else random)",
                    0},
    [OPT_SHAPE] = {"shape", "NAME=N,N,..",
                   "sizes of an input, or the size of an open dimension; may be repeated", 0},
    [OPT_LIST] =
        {"list", "FILE",
         "cases that are left out, a name and a reason a line; one that passes is an error", 0},
    [OPT_OUTPUTS] = {"outputs", "OUT.npz", "write the outputs", 0},
    [OPT_SEED] = {"seed", "N", "seed of random inputs (default 1)", 0},
    [OPT_REPEAT] = {"repeat", "N", "run N times; times are the median", 0},
    [OPT_MEM_LATENCY] = {"mem-latency", "CYCLES",
                         "simulated DRAM: cycles to first data (default 64)", 0},
    [OPT_MEM_BYTES] = {"mem-bytes-per-cycle", "B",
                       "simulated DRAM: bytes per cycle each way (default: port width)", 0},
    [OPT_MEM_OUTSTANDING] = {"mem-outstanding", "Q",
                             "simulated DRAM: open bursts at most (default 16)", 0},
    [OPT_MEM_JITTER] = {"mem-jitter", "SEED|A..B",
                        "simulated DRAM: random timing; A..B runs every seed (compare)", 0},
    [OPT_NO_HIDING] = {"no-latency-hiding", NULL,
                       "compile so that every operation waits for the one before it", 0},
    [OPT_FUNCTIONAL] = {"functional", NULL, "device iss: results only, no cycles; sooner", 0},
    [OPT_DUMP] = {"dump", "STAGE",
                  "print the compiler's state: import, legalize, plan, program, all", 0},
    [OPT_THREADS] = {"threads", "N", "threads for devices that use several", 0},
    [OPT_JSON] = {"json", "FILE", "write the facts as JSON; - is standard output", 0},
    [OPT_OUT] = {"out", "FILE", "output file; - is standard output where text is written", 'o'},
    [OPT_EMIT] = {"emit", "hdl|c",
                  "what to write: a model file (default), or C source that needs no runtime", 0},
    [OPT_PASS] = {"pass", "NAME,...", "passes to run, in order", 0},
    [OPT_FULL] = {"full", NULL, "print all values of large constants", 0},
    [OPT_IMAGES] = {"images", "N", "only the first N images", 0},
    [OPT_CYCLES] = {"cycles", NULL, "print cycles and DRAM bytes of every device", 0},
    [OPT_TRACE] = {"trace", "FILE.json", "write a timeline that Perfetto and chrome://tracing open",
                   0},
    [OPT_TRACE_FROM] = {"trace-from", "CYCLE", "leave out of the trace what ended before", 0},
    [OPT_TRACE_CYCLES] = {"trace-cycles", "N", "and what began N cycles later", 0},
    [OPT_TRACE_LEVEL] = {"trace-level", "LEVEL",
                         "op (default), or layer: one event per unit and layer", 0},
    [OPT_REPORT] = {"report", "FILE.html", "write a report: one page that opens in any browser", 0},
    [OPT_SELECT] = {"select", "SELECTOR",
                    "only these layers in --dump, --trace and compare (docs/query.md)", 0},
    [OPT_KEEP] = {"keep", "SELECTOR",
                  "layers whose result is also stored in DRAM; of quantize: nodes that stay float "
                  "(docs/query.md)",
                  0},
    [OPT_STAGE] = {"stage", "STAGE", "import, legalize or plan", 0},
    [OPT_COLOR] = {"color", "BY", "colour nodes by device (default), cost or dtype", 0},
    [OPT_FOLD] = {"fold", "HOW", "draw repeated blocks once: auto (default: big graphs), yes, no",
                  0},
    [OPT_CSV] = {"csv", "FILE", "write the table as CSV; - is standard output", 0},
    [OPT_BISECT] = {"bisect", NULL, "search by many runs that keep one value each, for big models",
                    0},
    [OPT_CALIBRATE] = {"calibrate", "PATH",
                       "data for the ranges: folder with test_data_set_N, .npz or .npy of samples "
                       "(default: those beside the model, else random)",
                       0},
    [OPT_RANGE] = {"range", "HOW",
                   "ranges of values: minmax (default), percentile or percentile:P, entropy", 0},
    [OPT_SYMMETRIC] = {"symmetric", NULL, "activations with the zero point in the middle", 0},
    [OPT_ACTIVATIONS] = {"activations", "TYPE", "int8 (default) or uint8", 0},
    [OPT_BIAS_CORRECTION] = {"bias-correction", NULL,
                             "take the mean error of rounded weights off the biases", 0},
    [OPT_EQUALIZE] = {"equalize", NULL,
                      "even out the peaks of channels between convolutions before ranges are taken",
                      0},
    [OPT_HELP] = {"help", NULL, "print this", 'h'},
};

static bool takes(const struct cli_command *cmd, int o) {
    return o == OPT_HELP || (cmd->options >> o & 1);
}

void cli_print_help(const struct cli_command *cmd, FILE *out) {
    fprintf(out, "usage: heddle %s%s%s [option...]\n\n%s\n\noptions:\n", cmd->name,
            *cmd->args ? " " : "", cmd->args, cmd->doc);
    for (int o = 0; o < OPT_COUNT; o++) {
        char left[48];
        if (!takes(cmd, o)) continue;
        int n = table[o].letter ? snprintf(left, sizeof left, "-%c, ", table[o].letter) : 0;
        snprintf(left + n, sizeof left - (size_t)n, "--%s%s%s", table[o].name,
                 table[o].arg ? " " : "", table[o].arg ? table[o].arg : "");
        fprintf(out, "  %-26s %s%s%s%s\n", left, table[o].doc,
                o == OPT_DEVICE && cmd->device ? " (default " : "",
                o == OPT_DEVICE && cmd->device ? cmd->device : "",
                o == OPT_DEVICE && cmd->device ? ")" : "");
    }
}

/* A whole number in min..max, decimal or 0x; message and CLI_USAGE otherwise. */
static int number(struct cli *c, int o, const char *text, uint64_t min, uint64_t max,
                  uint64_t *out) {
    char *end;
    errno = 0;
    uint64_t v = strtoull(text, &end, 0);
    if (end == text || *end || errno || text[0] == '-' || v < min || v > max)
        return cli_usage(c, "--%s: got '%s', want a whole number from %llu to %llu", table[o].name,
                         text, (unsigned long long)min, (unsigned long long)max);
    *out = v;
    return CLI_DONE;
}

static int jitter(struct cli *c, const char *text) {
    char first[32];
    const char *dots = strstr(text, "..");
    size_t n = dots ? (size_t)(dots - text) : strlen(text);
    if (n >= sizeof first) n = sizeof first - 1;
    memcpy(first, text, n);
    first[n] = 0;
    struct cli_options *p = &c->opt;
    int s = number(c, OPT_MEM_JITTER, first, 0, UINT64_MAX - 1, &p->jitter_first);
    if (s != CLI_DONE) return s;
    p->jitter_last = p->jitter_first;
    if (dots)
        s = number(c, OPT_MEM_JITTER, dots + 2, p->jitter_first, UINT64_MAX - 1, &p->jitter_last);
    if (s != CLI_DONE) return s;
    if (dots && strcmp(c->command->name, "compare"))
        return cli_usage(
            c, "--mem-jitter: got range '%s', want one seed; only compare runs a range", text);
    p->mem.jitter = true;
    p->mem.jitter_seed = p->jitter_first;
    return CLI_DONE;
}

static int store_number(struct cli *c, int o, const char *arg) {
    struct cli_options *p = &c->opt;
    uint64_t v = 0;
    uint64_t min = o == OPT_SEED ? 0 : 1, max = 1000000;
    if (o == OPT_SEED) max = UINT64_MAX;
    if (o == OPT_TRACE_FROM) min = 0;
    if (o == OPT_TRACE_FROM || o == OPT_TRACE_CYCLES) max = UINT64_C(1) << 40;
    if (o == OPT_MEM_BYTES || o == OPT_MEM_OUTSTANDING || o == OPT_THREADS) max = 1024;
    int s = number(c, o, arg, min, max, &v);
    if (s != CLI_DONE) return s;
    switch (o) {
    case OPT_SEED:
        p->seed = v;
        break;
    case OPT_REPEAT:
        p->repeat = (int)v;
        break;
    case OPT_MEM_LATENCY:
        p->mem.latency = (uint32_t)v;
        break;
    case OPT_MEM_BYTES:
        p->mem.bytes_per_cycle = (uint32_t)v;
        break;
    case OPT_MEM_OUTSTANDING:
        p->mem.outstanding = (uint32_t)v;
        break;
    case OPT_THREADS:
        p->threads = (int)v;
        break;
    case OPT_TRACE_FROM:
        p->trace_from = v;
        break;
    case OPT_TRACE_CYCLES:
        p->trace_cycles = v;
        break;
    default:
        p->images = (int)v;
        break;
    }
    return CLI_DONE;
}

static int one_of(struct cli *c, int o, const char *arg, const char *const *words,
                  const char **out) {
    char list[100] = "";
    for (int i = 0; words[i]; i++) {
        if (!strcmp(words[i], arg)) {
            *out = arg;
            return CLI_DONE;
        }
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", words[i]);
    }
    return cli_usage(c, "--%s: got '%s', want one of %s", table[o].name, arg, list);
}

static int store(struct cli *c, int o, const char *arg, bool *out_help) {
    struct cli_options *p = &c->opt;
    switch (o) {
    case OPT_DEVICE:
        p->device = arg;
        break;
    case OPT_DEVICES:
        p->devices = arg;
        break;
    case OPT_MACHINE:
        p->machine = arg;
        break;
    case OPT_INPUTS:
        p->inputs = arg;
        break;
    case OPT_OUTPUTS:
        p->outputs = arg;
        break;
    case OPT_DUMP:
        p->dump = arg;
        break;
    case OPT_JSON:
        p->json = arg;
        break;
    case OPT_EMIT:
        if (strcmp(arg, "hdl") && strcmp(arg, "c"))
            return cli_usage(c, "--emit: got '%s', want hdl or c", arg);
        p->emit = arg;
        break;
    case OPT_OUT:
        p->out = arg;
        break;
    case OPT_PASS:
        p->pass = arg;
        break;
    case OPT_TRACE:
        p->trace = arg;
        break;
    case OPT_TRACE_LEVEL:
        return one_of(c, o, arg, (const char *[]){"op", "layer", NULL}, &p->trace_level);
    case OPT_STAGE:
        return one_of(c, o, arg, (const char *[]){"import", "legalize", "plan", NULL}, &p->stage);
    case OPT_COLOR:
        return one_of(c, o, arg, (const char *[]){"device", "cost", "dtype", NULL}, &p->color);
    case OPT_FOLD:
        return one_of(c, o, arg, (const char *[]){"auto", "yes", "no", NULL}, &p->fold);
    case OPT_REPORT:
        p->report = arg;
        break;
    case OPT_SELECT:
        p->select = arg;
        break;
    case OPT_KEEP:
        p->keep = arg;
        break;
    case OPT_CALIBRATE:
        p->calibrate = arg;
        break;
    case OPT_RANGE:
        p->range = arg;
        break;
    case OPT_ACTIVATIONS:
        return one_of(c, o, arg, (const char *[]){"int8", "uint8", NULL}, &p->activations);
    case OPT_SYMMETRIC:
        p->symmetric = true;
        break;
    case OPT_EQUALIZE:
        p->equalize = true;
        break;
    case OPT_BIAS_CORRECTION:
        p->bias_correction = true;
        break;
    case OPT_CSV:
        p->csv = arg;
        break;
    case OPT_BISECT:
        p->bisect = true;
        break;
    case OPT_NO_HIDING:
        p->no_latency_hiding = true;
        break;
    case OPT_FUNCTIONAL:
        p->functional = true;
        break;
    case OPT_FULL:
        p->full = true;
        break;
    case OPT_CYCLES:
        p->cycles = true;
        break;
    case OPT_HELP:
        *out_help = true;
        break;
    case OPT_MEM_JITTER:
        return jitter(c, arg);
    case OPT_LIST:
        p->list = arg;
        break;
    case OPT_SHAPE:
        if (p->n_shapes == (int)(sizeof p->shapes / sizeof *p->shapes))
            return cli_usage(c, "--shape: given more than %d times", p->n_shapes);
        p->shapes[p->n_shapes++] = arg;
        break;
    case OPT_SET:
        if (p->n_sets == (int)(sizeof p->sets / sizeof *p->sets))
            return cli_usage(c, "--set: given more than %d times; write a machine file", p->n_sets);
        p->sets[p->n_sets++] = arg;
        break;
    default:
        return store_number(c, o, arg);
    }
    return CLI_DONE;
}

static int check_dump(struct cli *c) {
    static const char *const stage[] = {"import", "legalize", "plan", "program", "all"};
    if (!c->opt.dump) return CLI_DONE;
    for (size_t i = 0; i < sizeof stage / sizeof *stage; i++)
        if (!strcmp(stage[i], c->opt.dump)) return CLI_DONE;
    return cli_usage(c, "--dump: got '%s', want import, legalize, plan, program or all",
                     c->opt.dump);
}

int cli_parse(struct cli *c, int argc, char **argv, bool *out_help) {
    const struct cli_command *cmd = c->command;
    struct option longs[OPT_COUNT + 1] = {{0}};
    char shorts[2 * OPT_COUNT + 2] = ":";
    size_t n_shorts = 1;
    int n = 0;
    for (int o = 0; o < OPT_COUNT; o++) {
        if (!takes(cmd, o)) continue;
        int has_arg = table[o].arg ? required_argument : no_argument;
        longs[n++] = (struct option){table[o].name, has_arg, NULL, 1000 + o};
        if (!table[o].letter) continue;
        shorts[n_shorts++] = table[o].letter;
        if (table[o].arg) shorts[n_shorts++] = ':';
    }
    c->opt = (struct cli_options){.device = cmd->device, .seed = 1, .repeat = 1};
    opterr = 0;
    for (int k; (k = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (k == ':') return cli_usage(c, "option %s needs a value", argv[optind - 1]);
        if (k == '?' && optopt > 0 && optopt < 256)
            return cli_usage(c, "unknown option -%c", optopt);
        if (k == '?') return cli_usage(c, "unknown option %s", argv[optind - 1]);
        int o = k == 'o' ? OPT_OUT : k == 'h' ? OPT_HELP : k - 1000;
        int s = store(c, o, optarg, out_help);
        if (s != CLI_DONE) return s;
    }
    c->args = argv + optind;
    c->n_args = argc - optind;
    if (*out_help) return CLI_DONE;
    if (c->n_args < cmd->min_args)
        return cli_usage(c, "an argument is missing: heddle %s %s", cmd->name, cmd->args);
    if (c->n_args > cmd->max_args)
        return cli_usage(c, "'%s' is one argument too many: heddle %s %s", c->args[cmd->max_args],
                         cmd->name, cmd->args);
    return check_dump(c);
}
