/* heddle bench sim-speed: cycles of the machine that a simulator runs in a second, on a convolution
 * with the memory model on. Seconds are those of the processor, not of the clock on the wall, so
 * that other work on the computer counts little; a simulator runs on one thread. */
#include <string.h>
#include <time.h>

#include "compiler/bench/bench.h"
#include "compiler/bench/graph.h"
#include "compiler/command/table.h"
#include "compiler/compiler.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "runtime/runtime.h"

static const char *const machines[] = {"base", "tiny", "big"};
static const char *const devices[] = {"rtl", "iss"};
static const char layer[] = "C2 56x56x64 3x3";

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct speed {
    uint64_t cycles;
    double cpu, wall;
};

static hd_status measure(struct hd_cmd *c, hd_arena *a, const char *machine, const char *device,
                         struct speed *out) {
    hd_model *m = NULL;
    hd_session *s = NULL;
    struct hd_counters k = {0};
    struct hd_compile_options opt = {.latency_hiding = true};
    const void **in = NULL;
    const char *what;
    c->opt.machine = machine;
    TRY(hd_cmd_machine(c, &opt.machine));
    hd_graph *g = hd_bench_layer(a, layer, c->opt.seed);
    hd_status ok = hd_graph_infer(c->ctx, g);
    if (ok == HD_OK) ok = hd_lower(c->ctx, g, &opt, &m);
    if (ok == HD_OK) ok = hd_open_session(c, m, device, &s);
    if (ok == HD_OK) ok = hd_cmd_inputs(c, a, m, "", &in, &what);
    double cpu = cpu_seconds(), wall = hd_seconds();
    if (ok == HD_OK) ok = hd_session_run(c->ctx, s, in, hd_output_buffers(a, m));
    *out = (struct speed){.cpu = cpu_seconds() - cpu, .wall = hd_seconds() - wall};
    if (ok == HD_OK) ok = hd_session_counters(c->ctx, s, &k);
    out->cycles = k.cycles;
    hd_session_close(s);
    hd_model_destroy(m);
    hd_graph_destroy(g);
    return hd_note(c->ctx, ok, "in benchmark sim-speed, %s on %s", device, machine);
}

static void add_row(const char *machine, const char *device, const struct speed *v,
                    struct hd_table *t, json_object *list) {
    double rate = v->cpu > 0 ? (double)v->cycles / v->cpu : 0;
    hd_table_cell(t, "%s", device);
    hd_table_cell(t, "%s", machine);
    hd_table_cell(t, "%llu", (unsigned long long)v->cycles);
    hd_table_cell(t, "%.3f", v->cpu);
    hd_table_cell(t, "%.3f", v->wall);
    hd_table_cell(t, "%.2f M", rate * 1e-6);
    json_object *o = json_object_new_object();
    hd_json_str(o, "device", device);
    hd_json_str(o, "machine", machine);
    hd_json_str(o, "layer", layer);
    hd_json_int(o, "cycles", (int64_t)v->cycles);
    hd_json_num(o, "cpu_seconds", v->cpu);
    hd_json_num(o, "wall_seconds", v->wall);
    hd_json_num(o, "cycles_per_second", rate);
    json_object_array_add(list, o);
}

int hd_bench_speed(struct hd_cmd *c) {
    json_object *list = json_object_new_array();
    struct hd_table t;
    int failed = 0, status = HD_EXIT_DONE;
    const char *only = c->opt.machine; /* --machine: that one alone */
    hd_table_init(&t, "llrrrr");
    hd_table_cells(&t,
                   (const char *[]){"device", "machine", "cycles", "CPU seconds", "seconds",
                                    "cycles per CPU second"},
                   6);
    for (size_t d = 0; d < sizeof devices / sizeof devices[0]; d++)
        for (size_t i = 0; i < (only ? 1 : sizeof machines / sizeof machines[0]); i++) {
            hd_arena *a = hd_arena_create();
            struct speed v;
            const char *machine = only ? only : machines[i];
            hd_cmd_progress(c, "%s on %s", devices[d], machine);
            if (measure(c, a, machine, devices[d], &v) == HD_OK) {
                add_row(machine, devices[d], &v, &t, list);
            } else {
                hd_cmd_fail(c);
                hd_clear(c->ctx);
                failed++;
            }
            hd_arena_destroy(a);
        }
    hd_cmd_progress_end(c);
    FILE *out = hd_cmd_json_on_stdout(c) ? stderr : stdout;
    fprintf(out, "convolution %s, memory model on, one thread\n", layer);
    hd_table_print(&t, out);
    if (c->opt.json) {
        json_object *o = json_object_new_object();
        hd_json_str(o, "schema", "heddle.bench-speed/1");
        json_object_object_add(o, "runs", list);
        status = hd_cmd_write_json(c, o);
    } else {
        json_object_put(list);
    }
    return failed ? HD_EXIT_FAILED : status;
}
