/* heddle bench: which benchmark, and what its arguments are. */
#include <string.h>

#include "compiler/bench/bench.h"
#include "compiler/cli/cli.h"

/* Benchmarks that take models, by their names. */
static const struct {
    const char *name;
    int (*run)(struct hd_cmd *c, char **models, int n);
    bool on_digits; /* without models it runs the digits network */
} by_models[] = {{"iss-vs-rtl", hd_bench_iss, false},
                 {"cpu", hd_bench_cpu, false},
                 {"memory", hd_bench_memory, true},
                 {"compare", hd_bench_compare, true},
                 {"estimate", hd_bench_estimate, true},
                 {"zoo", hd_bench_zoo, false},
                 {"tiny", hd_bench_tiny, false},
                 {"choose", hd_bench_choose, false},
                 {"gpu", hd_bench_gpu, true}};

int cmd_bench(struct hd_cmd *c) {
    char *digits[] = {"test/models/digits"};
    const char *name = c->n_args ? c->args[0] : "";
    for (size_t i = 0; i < sizeof by_models / sizeof *by_models; i++) {
        if (strcmp(name, by_models[i].name)) continue;
        bool own = by_models[i].on_digits && c->n_args == 1;
        return by_models[i].run(c, own ? digits : c->args + 1, own ? 1 : c->n_args - 1);
    }
    if (c->n_args == 1 && !strcmp(name, "sim-speed")) return hd_bench_speed(c);
    if (c->n_args == 1 && !strcmp(name, "train")) return hd_bench_train(c);
    if (c->n_args == 1 && hd_bench_has_set(name)) return hd_bench_machine(c, name);
    if (c->opt.devices || c->opt.csv || c->opt.report)
        return hd_cmd_usage(c, "--devices, --csv and --report belong to bench compare");
    return hd_bench_networks(c, c->n_args ? c->args : digits, c->n_args ? c->n_args : 1);
}
