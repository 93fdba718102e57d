/* heddle eval: a model on many samples: how often the right class is first, or among five; how far
 * outputs are from those that are right. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/calibrate/labels.h"
#include "compiler/cli/cli.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "runtime/base/num.h"
#include "runtime/runtime.h"

enum { AMONG = 5 };

struct eval {
    struct hd_cmd *c;
    hd_arena *a;
    const char *path;
    hd_model *m;
    hd_session *s;
    struct hd_calibration data;
    struct hd_labels labels;
    int form;                     /* shapes that m is compiled for */
    int64_t batch, samples, done; /* samples of a run, of all of them, so far */
    int64_t top1, top5;
    double error, largest, signal, noise; /* sums over elements, but the largest */
    int64_t elements;
    uint64_t cycles;
    double seconds;
};

static double element(const struct hd_value_info *v, const void *x, size_t i) {
    return hd_element(x, v->dtype, i);
}

static size_t best_of(const struct hd_value_info *v, const void *x, size_t n) {
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (element(v, x, i) > element(v, x, best)) best = i;
    return best;
}

/* Elements in front of that of the class: larger, or as large and earlier. */
static void count_class(struct eval *e, const struct hd_value_info *v, const void *x, size_t first,
                        size_t n, size_t class) {
    double own = element(v, x, first + class);
    int64_t before = 0;
    for (size_t i = 0; i < n; i++) {
        double other = element(v, x, first + i);
        before += other > own || (other == own && i < class) || own != own;
    }
    e->top1 += before == 0;
    e->top5 += before < AMONG;
}

static void count_error(struct eval *e, const struct hd_value_info *v, const void *x, size_t first,
                        const void *want, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double r = element(v, want, i), d = fabs(element(v, x, first + i) - r);
        e->error += d;
        e->signal += r * r;
        e->noise += d * d;
        if (d > e->largest || d != d) e->largest = d;
    }
    e->elements += (int64_t)n;
}

static hd_status count_samples(struct eval *e, const void *out) {
    const struct hd_value_info *v = &e->m->values[e->m->outputs[0]];
    size_t n = hd_value_dense_bytes(v) / (size_t)v->elem_bytes / (size_t)e->batch;
    for (int64_t b = 0; b < e->batch && e->done < e->samples; b++, e->done++) {
        size_t first = (size_t)b * n;
        if (e->labels.values) {
            const void *want = e->labels.values[e->done];
            if (e->labels.bytes[e->done] != n * (size_t)v->elem_bytes)
                return hd_fail(e->c->ctx, HD_INVALID,
                               "sample %lld: what is right has %zu bytes, output %s has %zu",
                               (long long)e->done, e->labels.bytes[e->done], v->name,
                               n * (size_t)v->elem_bytes);
            count_error(e, v, out, first, want, n);
            if (n > 1) count_class(e, v, out, first, n, best_of(v, want, n));
        } else if (e->labels.class) {
            int64_t class = e->labels.class[e->done];
            if (class < 0 || (size_t) class >= n)
                return hd_fail(e->c->ctx, HD_INVALID,
                               "sample %lld has class %lld, output %s has %zu: 0 to %zu",
                               (long long)e->done, (long long)class, v->name, n, n - 1);
            count_class(e, v, out, first, n, (size_t) class);
        }
    }
    return HD_OK;
}

/* The model for the shapes of data set i, with a session. Sets of the same shapes stand together,
 * so each is compiled once and one is in memory at a time. */
static hd_status open_model(struct eval *e, int i) {
    struct hd_cmd *c = e->c;
    int form = hd_calibration_form(&e->data, i);
    const struct hd_data_set *set = hd_calibration_set(&e->data, i);
    bool host_only = hd_is_graph_device(c->opt.device), network = !hd_is_hdl(e->path);
    if (e->m && (form == e->form || !network)) return HD_OK;
    hd_session_close(e->s);
    hd_model_destroy(e->m);
    e->s = NULL, e->m = NULL, e->form = form;
    TRY(set && network ? hd_open_model_for(c, e->path, host_only, set->t, set->n, &e->m)
                       : hd_open_model(c, e->path, host_only, &e->m));
    if (!e->m->n_outputs) return hd_fail(c->ctx, HD_INVALID, "%s has no output", e->path);
    return hd_open_session(c, e->m, c->opt.device, &e->s);
}

static hd_status run_samples(struct eval *e) {
    struct hd_cmd *c = e->c;
    for (int i = 0; e->done < e->samples; i++) {
        TRY(open_model(e, i));
        hd_arena *a = hd_arena_create();
        void **out = hd_output_buffers(a, e->m);
        const void **in;
        struct hd_counters k = {0};
        hd_cmd_progress(c, "sample %lld of %lld: top-1 %.2f %%", (long long)e->done,
                        (long long)e->samples,
                        e->done ? 100 * (double)e->top1 / (double)e->done : 0);
        hd_status s = hd_calibration_inputs(c, a, e->m, &e->data, i, &in);
        double start = hd_seconds();
        if (s == HD_OK) s = hd_session_run(c->ctx, e->s, in, out);
        e->seconds += hd_seconds() - start;
        if (s == HD_OK) s = hd_session_counters(c->ctx, e->s, &k);
        e->cycles += k.cycles;
        if (s == HD_OK) s = count_samples(e, out[0]);
        hd_arena_destroy(a);
        TRY(s);
    }
    return HD_OK;
}

static hd_status evaluate(struct eval *e) {
    struct hd_cmd *c = e->c;
    TRY(hd_model_path(c, e->a, c->args[0], &e->path));
    TRY(hd_load_calibration(c, e->a, e->path, &e->data));
    if (!e->data.sets && !e->data.images)
        return hd_fail(c->ctx, HD_INVALID, "%s has no data sets beside it; name some with --data",
                       e->path);
    TRY(open_model(e, 0));
    TRY(hd_count_calibration(c, e->a, e->m, &e->data));
    e->batch = hd_calibration_batch(e->m, &e->data);
    const struct hd_value_info *v = &e->m->values[e->m->outputs[0]];
    if (e->batch > 1 && (v->rank < 1 || v->dim[0] % e->batch))
        return hd_fail(
            c->ctx, HD_INVALID,
            "inputs hold %lld samples, output %s is %s; want a first dimension of as many",
            (long long)e->batch, v->name, hd_dims_text(e->a, v->dim, v->rank));
    e->samples = e->data.images ? e->data.n_images : e->data.n * e->batch;
    TRY(hd_load_labels(c, e->a, e->m, &e->data, &e->labels));
    if (c->opt.images && c->opt.images < e->samples) e->samples = c->opt.images;
    return run_samples(e);
}

static void print(const struct eval *e) {
    double n = (double)e->samples;
    printf("%s on %s, %lld samples of %s\n", e->path, e->c->opt.device, (long long)e->samples,
           e->data.what);
    if (e->labels.n && (e->labels.class || e->top5)) {
        const char *what = e->labels.class ? "label" : "largest element";
        printf("top-1 %.2f %%: the %s is first %lld times\n", 100 * (double)e->top1 / n, what,
               (long long)e->top1);
        printf("top-5 %.2f %%: among five %lld times\n", 100 * (double)e->top5 / n,
               (long long)e->top5);
    }
    const char *output = e->m->values[e->m->outputs[0]].name;
    if (e->elements && e->noise > 0)
        printf("error of output %s: mean %.6g, largest %.6g, %.1f dB\n", output,
               e->error / (double)e->elements, e->largest, 10 * log10(e->signal / e->noise));
    else if (e->elements)
        printf("error of output %s: none\n", output);
    if (!e->labels.n) puts("nothing to compare with: give --labels FILE");
    if (e->cycles)
        printf("%.0f cycles a sample, %.3f ms at %u MHz%s\n", (double)e->cycles / n,
               (double)e->cycles / n / (1e3 * e->m->machine.clock_mhz), e->m->machine.clock_mhz,
               hd_machine_clock_note(&e->m->machine));
    printf("%.3f s: %.1f samples/s\n", e->seconds, e->seconds > 0 ? n / e->seconds : 0);
}

static json_object *eval_json(const struct eval *e) {
    json_object *o = json_object_new_object();
    double n = (double)e->samples;
    hd_json_str(o, "schema", "heddle.eval/1");
    hd_json_str(o, "model", e->path);
    hd_json_str(o, "device", e->c->opt.device);
    hd_json_str(o, "data", e->data.what);
    hd_json_int(o, "samples", e->samples);
    if (e->labels.n && (e->labels.class || e->top5)) {
        hd_json_num(o, "top1", (double)e->top1 / n);
        hd_json_num(o, "top5", (double)e->top5 / n);
    }
    if (e->elements) {
        hd_json_num(o, "mean_error", e->error / (double)e->elements);
        hd_json_num(o, "largest_error", e->largest);
        if (e->noise > 0) hd_json_num(o, "snr_db", 10 * log10(e->signal / e->noise));
    }
    if (e->cycles) hd_json_num(o, "cycles_per_sample", (double)e->cycles / n);
    hd_json_num(o, "seconds", e->seconds);
    return o;
}

int cmd_eval(struct hd_cmd *c) {
    struct eval e = {.c = c, .a = hd_arena_create()};
    hd_status s = evaluate(&e);
    hd_cmd_progress_end(c);
    int status = s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    if (s == HD_OK && !hd_cmd_json_on_stdout(c)) print(&e);
    if (s == HD_OK && c->opt.json) status = hd_cmd_write_json(c, eval_json(&e));
    hd_session_close(e.s);
    hd_model_destroy(e.m);
    hd_arena_destroy(e.a);
    return status;
}
