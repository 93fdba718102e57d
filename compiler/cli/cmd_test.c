/* heddle test: folders in the ONNX backend-test layout, a line each data set.
 *
 * The verdict has two parts. Outputs must agree with the stored ones: within one step of the
 * output's scale when quantised tensors make it, else to rtol 1e-3, atol 1e-5. And on a machine,
 * every integer tensor that leaves it must be bit-equal to golden's.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/cli/test_cases.h"
#include "compiler/compare/tolerance.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "cpu_ref/kernels.h"
#include "runtime/base/io.h"
#include "runtime/runtime.h"

enum { DEPTH_MAX = 16 };

void test_say(struct tester *t, const char *what, enum verdict v, const char *why) {
    static const char *const word[] = {"ok  ", "FAIL", "skip"};
    static const char *const key[] = {"passed", "failed", "skipped"};
    hd_cmd_progress_end(t->c);
    t->passed += v == PASS, t->failed += v == FAIL, t->skipped += v == SKIP;
    if (t->text) {
        fprintf(t->text, "%s %s: ", word[v], what);
        for (const char *p = why; *p; p++) { /* a line each: notes follow after a semicolon */
            if (*p == '\n')
                fputs(";", t->text);
            else if (!(p[0] == ' ' && p[1] == ' '))
                fputc(*p, t->text);
        }
        fputc('\n', t->text);
        fflush(t->text);
    }
    json_object *o = json_object_new_object();
    hd_json_str(o, "case", what);
    hd_json_str(o, "verdict", key[v]);
    hd_json_str(o, "detail", why);
    json_object_array_add(t->cases, o);
}

/* ---- one output --------------------------------------------------------------------------- */

/* Compares one output with the stored one: NULL when it agrees, else the reason. *out_most is the
 * largest difference. */
static const char *check_output(hd_arena *a, const struct hd_value_info *v, const void *got,
                                const struct hd_file_tensor *want, const struct hd_tolerance *tol,
                                double *out_most) {
    size_t n = hd_value_dense_bytes(v) / (size_t)v->elem_bytes;
    bool same = hd_dtypes_agree(want->dtype, v->dtype) && want->rank == v->rank;
    for (int i = 0; same && i < v->rank; i++) same = want->dim[i] == v->dim[i];
    if (!same)
        return hd_sprintf(a, "output %s is %s%s, the stored one %s%s", v->name,
                          hd_onnx_dtype_name(v->dtype), hd_dims_text(a, v->dim, v->rank),
                          hd_onnx_dtype_name(want->dtype), hd_dims_text(a, want->dim, want->rank));
    size_t wrong = 0, first = 0;
    double largest = 0;
    *out_most = 0;
    for (size_t i = 0; i < n && tol->of_largest > 0; i++) {
        double y = fabs(hd_element(want->data, v->dtype, i));
        if (y > largest && isfinite(y)) largest = y;
    }
    double atol = tol->absolute + tol->of_largest * largest;
    bool exact =
        atol == 0 && tol->relative == 0 && !hd_k_is_float((hd_dtype)hd_dtype_from_onnx(v->dtype));
    for (size_t i = 0; i < n; i++) {
        double x = hd_element(got, v->dtype, i), y = hd_element(want->data, v->dtype, i),
               d = fabs(x - y);
        const char *bx = (const char *)got + i * (size_t)v->elem_bytes,
                   *by = (const char *)want->data + i * (size_t)v->elem_bytes;
        if (exact ? !memcmp(bx, by, (size_t)v->elem_bytes) : x == y || (x != x && y != y)) continue;
        if (d > *out_most || d != d) *out_most = d;
        if (!(d <= atol + tol->relative * fabs(y)) && !wrong++) first = i;
    }
    if (!wrong) return NULL;
    return hd_sprintf(
        a,
        "output %s: %zu of %zu values beyond the tolerance (%s), largest difference %g, first at "
        "element %zu: got %g, want %g",
        v->name, wrong, n, tol->text, *out_most, first, hd_element(got, v->dtype, first),
        hd_element(want->data, v->dtype, first));
}

/* Integer values that left the machine, against golden; *out_n counts them. NULL when all are
 * bit-equal. */
static const char *check_integers(struct tester *t, const hd_model *m, hd_session *s,
                                  hd_session *golden, int *out_n) {
    struct hd_cmd *c = t->c;
    *out_n = 0;
    for (int i = 0; i < m->n_values; i++) {
        const struct hd_value_info *v = &m->values[i];
        int type = hd_dtype_from_onnx(v->dtype);
        if (type < 0 || hd_k_is_float((hd_dtype)type)) continue;
        size_t bytes = hd_value_dense_bytes(v);
        unsigned char *x = hd_alloc(t->a, bytes + 1), *y = hd_alloc(t->a, bytes + 1);
        if (hd_session_value(c->ctx, s, i, x) != HD_OK ||
            hd_session_value(c->ctx, golden, i, y) != HD_OK)
            continue;
        (*out_n)++;
        for (size_t k = 0; k < bytes; k++)
            if (x[k] != y[k])
                return hd_sprintf(
                    t->a, "integer tensor %s differs from golden: byte %zu is %d, golden has %d",
                    v->name, k, x[k], y[k]);
    }
    return NULL;
}

/* ---- one data set ------------------------------------------------------------------------- */

struct folder_case {
    const char *path;
    hd_model *m;
    hd_graph *g;
    hd_session *s, *golden; /* golden: only beside a machine */
};

/* Of a network with state, data may hold several runs, one after another along an axis in front. */
static int64_t count_steps(const struct folder_case *f, const struct hd_file_tensor *in, int n) {
    if (!f->m->n_states || !n) return 1;
    const struct hd_value_info *v = &f->m->values[f->m->inputs[0]];
    return in[0].rank == v->rank + 1 ? in[0].dim[0] : 1;
}

/* What another implementation of the same network gives, in output_xnnpack_i.npy: *out->data NULL =
 * there is none. */
static hd_status load_other(struct tester *t, const char *set, int i, struct hd_file_tensor *out) {
    struct stat st;
    const char *path = hd_sprintf(t->a, "%s/output_xnnpack_%d.npy", set, i);
    struct hd_file_tensor *list;
    int n;
    *out = (struct hd_file_tensor){.name = ""};
    if (stat(path, &st) != 0) return HD_OK;
    TRY(hd_load_tensors(t->c->ctx, t->a, path, &list, &n));
    *out = list[0];
    return HD_OK;
}

static double distance(const void *x, const void *y, int dtype, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double d = hd_element(x, dtype, i) - hd_element(y, dtype, i);
        sum += d * d;
    }
    return n ? sqrt(sum / (double)n) : 0;
}

/* Two implementations round differently, and a deep network spreads that: the output is right when
 * it agrees with either, or is no farther from one (root mean square) than they are apart. */
static const char *check_either(struct tester *t, const struct hd_value_info *v, const void *got,
                                const struct hd_file_tensor *want,
                                const struct hd_file_tensor *other, const struct hd_tolerance *tol,
                                const char **text) {
    double most = 0, most_other = 0;
    const char *why = check_output(t->a, v, got, want, tol, &most);
    *text = hd_sprintf(t->a, "max|diff| %.4g, tolerance %s", most, tol->text);
    if (!why || !other->data || other->bytes != want->bytes) return why;
    if (!check_output(t->a, v, got, other, tol, &most_other)) {
        *text = hd_sprintf(t->a, "max|diff| %.4g of the other runtime, tolerance %s", most_other,
                           tol->text);
        return NULL;
    }
    size_t n = hd_value_dense_bytes(v) / (size_t)v->elem_bytes;
    double d[2] = {distance(got, want->data, v->dtype, n), distance(got, other->data, v->dtype, n)},
           apart = distance(want->data, other->data, v->dtype, n), least = fmin(d[0], d[1]);
    *text = hd_sprintf(t->a, "rms %.4g, two runtimes are %.4g apart", least, apart);
    return least <= apart ? NULL : hd_sprintf(t->a, "%s; rms %.4g, apart %.4g", why, least, apart);
}

/* The stored output for output i: the one at its place, or when that has another shape, the only
 * one that has its shape; runtimes give outputs in orders of their own. */
static int stored_for(const struct hd_value_info *v, const struct hd_file_tensor *want, int n,
                      int i) {
    int found = -1, n_found = 0;
    for (int k = 0; k < n; k++) {
        bool same = hd_dtypes_agree(want[k].dtype, v->dtype) && want[k].rank == v->rank;
        for (int d = 0; same && d < v->rank; d++) same = want[k].dim[d] == v->dim[d];
        if (same && k == i) return i;
        if (same) found = k, n_found++;
    }
    return n_found == 1 ? found : i;
}

static hd_status check_outputs(struct tester *t, struct folder_case *f, const char *set, void **out,
                               const struct hd_file_tensor *want, int n, int64_t step,
                               int64_t steps, const char **out_why, const char **out_text) {
    const char *text = "", *one = "";
    for (int i = 0; i < n && !*out_why; i++) {
        const struct hd_value_info *v = &f->m->values[f->m->outputs[i]];
        struct hd_tolerance tol;
        struct hd_file_tensor other;
        hd_output_tolerance(t->a, f->g, v->tensor, &tol);
        int k = stored_for(v, want, n, i);
        TRY(load_other(t, set, k, &other));
        *out_why = check_either(t, v, out[i], &want[k],
                                hd_step_tensors(t->a, &other, 1, step, other.data ? steps : 1),
                                &tol, &one);
        text = hd_sprintf(t->a, "%s%s%s", text, i ? "; " : "", one);
    }
    *out_text = text;
    return HD_OK;
}

static hd_status run_set(struct tester *t, struct folder_case *f, const char *set,
                         const char **out_why, const char **out_text) {
    struct hd_cmd *c = t->c;
    struct hd_file_tensor *in, *want;
    int n_in, n_want, n_ints = 0, states = f->m->n_states, n_out = f->m->n_outputs - states;
    TRY(hd_load_set(c->ctx, t->a, set, "input", &in, &n_in));
    TRY(hd_load_set(c->ctx, t->a, set, "output", &want, &n_want));
    if (n_want < n_out)
        return hd_fail(c->ctx, HD_INVALID, "%d stored outputs, the network has %d", n_want, n_out);
    int64_t steps = count_steps(f, in, n_in);
    for (int64_t k = 0; k < steps && !*out_why; k++) {
        const void **data = hd_ramp_inputs(t->a, f->m);
        if (n_in)
            TRY(hd_match_inputs(c->ctx, t->a, f->m, hd_step_tensors(t->a, in, n_in, k, steps), n_in,
                                &data));
        for (int i = 0; k && i < states; i++) data[f->m->n_inputs - states + i] = NULL;
        void **out = hd_output_buffers(t->a, f->m), **ref = hd_output_buffers(t->a, f->m);
        TRY(hd_session_run(c->ctx, f->s, data, out));
        if (f->golden) {
            TRY(hd_note(c->ctx, hd_session_run(c->ctx, f->golden, data, ref), "on device golden"));
            *out_why = check_integers(t, f->m, f->s, f->golden, &n_ints);
        }
        TRY(check_outputs(t, f, set, out, hd_step_tensors(t->a, want, n_want, k, steps), n_out, k,
                          steps, out_why, out_text));
        if (*out_why && steps > 1)
            *out_why = hd_sprintf(t->a, "step %lld: %s", (long long)k, *out_why);
    }
    if (f->golden)
        *out_text =
            hd_sprintf(t->a, "%s; %d integer tensors bit-equal to golden", *out_text, n_ints);
    return HD_OK;
}

static void close_case(struct folder_case *f) {
    hd_session_close(f->s);
    hd_session_close(f->golden);
    hd_graph_destroy(f->g);
    hd_model_destroy(f->m);
    *f = (struct folder_case){.path = f->path};
}

static hd_status open_case(struct tester *t, struct folder_case *f, const struct hd_file_tensor *in,
                           int n_in) {
    struct hd_cmd *c = t->c;
    bool graph_device = hd_is_graph_device(c->opt.device);
    close_case(f);
    TRY(hd_open_model_for(c, f->path, graph_device, in, n_in, &f->m));
    TRY(hd_graph_load(c->ctx, f->m->graph, f->m->graph_bytes, &f->g));
    TRY(hd_open_session(c, f->m, c->opt.device, &f->s));
    return graph_device ? HD_OK : hd_open_session(c, f->m, "golden", &f->golden);
}

/* Compiles for this data set, unless the model at hand fits it. */
static hd_status fit_case(struct tester *t, struct folder_case *f, const char *set) {
    struct hd_file_tensor *in = NULL;
    const void **data;
    int n_in = 0;
    TRY(hd_load_set(t->c->ctx, t->a, set, "input", &in, &n_in));
    if (f->s && !f->g->specialised && n_in &&
        hd_match_inputs(t->c->ctx, t->a, f->m, in, n_in, &data) == HD_OK)
        return HD_OK;
    hd_clear(t->c->ctx);
    hd_cmd_progress(t->c, "compiling for %s", set);
    hd_status s = open_case(t, f, in, n_in);
    if (s != HD_OK) close_case(f);
    return s;
}

static void test_set(struct tester *t, struct folder_case *f, const char *set) {
    const char *why = NULL, *text = "";
    hd_clear(t->c->ctx);
    hd_status fit = fit_case(t, f, set), r = fit;
    if (fit == HD_OK) hd_cmd_progress(t->c, "%s", set);
    if (fit == HD_OK) r = run_set(t, f, set, &why, &text);
    if (r != HD_OK) why = hd_message(t->c->ctx);
    const char *reason = t->reason ? t->reason : test_listed(t, set);
    if (reason)
        test_say(t, set, why ? SKIP : FAIL,
                 why ? reason
                     : "it is in the list of those left out, and passes; take it out there");
    else if (fit == HD_UNSUPPORTED && !t->listed)
        test_say(t, set, SKIP, why);
    else
        test_say(t, set, why ? FAIL : PASS, why ? why : text);
}

static void test_folder(struct tester *t, const char *folder) {
    t->a = hd_arena_create();
    struct folder_case f = {.path = hd_model_in(t->a, folder)};
    int n;
    char **sets = hd_data_sets(t->a, f.path, &n);
    if (!n) test_say(t, folder, SKIP, "no test_data_set_N beside the network");
    for (int i = 0; i < n; i++) test_set(t, &f, sets[i]);
    close_case(&f);
    hd_arena_destroy(t->a);
}

/* ---- cases that are left out -------------------------------------------------------------- */

/* Lines "case reason", # a comment; a case is named by the end of its path. */
static hd_status read_list(struct tester *t, hd_arena *a) {
    void *data;
    size_t bytes, cap = 0;
    TRY(hd_file_read(t->c->ctx, t->c->opt.list, &data, &bytes));
    char *save = NULL;
    t->listed = hd_new_array(a, const char *, 1);
    for (char *line = strtok_r(data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        size_t n = strcspn(line, " \t");
        const char *reason = line + n + strspn(line + n, " \t");
        if (!n || line[0] == '#') continue;
        if (!*reason) {
            hd_status s =
                hd_fail(t->c->ctx, HD_INVALID, "%s: case %s has no reason", t->c->opt.list, line);
            free(data);
            return s;
        }
        *hd_push(a, t->listed, t->n_listed, cap) = hd_strndup(a, line, n);
        *hd_push(a, t->listed, t->n_listed, cap) = hd_strdup(a, reason);
    }
    free(data);
    return HD_OK;
}

const char *test_listed(const struct tester *t, const char *folder) {
    for (size_t i = 0; i < t->n_listed; i += 2) {
        size_t n = strlen(t->listed[i]), k = strlen(folder);
        if (k >= n && !strcmp(folder + k - n, t->listed[i]) && (k == n || folder[k - n - 1] == '/'))
            return t->listed[i + 1];
    }
    return NULL;
}

/* ---- folders ------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_module(const char *path) {
    size_t n = strlen(path);
    return n > 5 && !strcmp(path + n - 5, ".mlir");
}

static hd_status walk(struct tester *t, const char *folder, int depth) {
    hd_arena *a = hd_arena_create();
    char **list = NULL;
    size_t n = 0, cap = 0;
    hd_status s = HD_OK;
    DIR *d = opendir(folder);
    if (!d) s = hd_fail(t->c->ctx, HD_IO, "%s: cannot open folder: %s", folder, strerror(errno));
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && strncmp(e->d_name, "test_data_set_", 14))
            *hd_push(a, list, n, cap) = hd_sprintf(a, "%s/%s", folder, e->d_name);
    if (d) closedir(d);
    if (n) qsort(list, n, sizeof *list, by_name);
    t->reason = test_listed(t, folder);
    if (s == HD_OK && hd_model_in(a, folder)) test_folder(t, folder);
    for (size_t i = 0; s == HD_OK && i < n && depth < DEPTH_MAX; i++)
        if (is_folder(list[i]))
            s = walk(t, list[i], depth + 1);
        else if (is_module(list[i]))
            test_checks(t, list[i]);
    hd_arena_destroy(a);
    return s;
}

int cmd_test(struct hd_cmd *c) {
    struct tester t = {
        .c = c, .cases = json_object_new_array(), .text = hd_cmd_json_on_stdout(c) ? NULL : stdout};
    hd_cmd_together(c);
    hd_arena *a = hd_arena_create();
    hd_status s = c->opt.list ? read_list(&t, a) : HD_OK;
    for (int i = 0; s == HD_OK && i < c->n_args; i++) {
        char *folder = c->args[i];
        size_t n = strlen(folder);
        while (n > 1 && folder[n - 1] == '/') folder[--n] = 0;
        if (is_module(folder))
            test_checks(&t, folder);
        else
            s = walk(&t, folder, 0);
    }
    hd_arena_destroy(a);
    if (s != HD_OK) {
        json_object_put(t.cases);
        return hd_cmd_fail(c);
    }
    if (t.text)
        fprintf(t.text, "%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped);
    bool ok = t.failed == 0 && t.passed + t.skipped > 0;
    if (t.passed + t.failed + t.skipped == 0)
        fprintf(stderr, "heddle test: no network in %s or below it\n", c->args[0]);
    int status = HD_EXIT_DONE;
    if (c->opt.json) {
        json_object *o = json_object_new_object();
        hd_json_str(o, "schema", "heddle.test/1");
        hd_json_str(o, "device", c->opt.device);
        json_object_object_add(o, "ok", json_object_new_boolean(ok));
        hd_json_int(o, "passed", t.passed);
        hd_json_int(o, "failed", t.failed);
        hd_json_int(o, "skipped", t.skipped);
        json_object_object_add(o, "cases", t.cases);
        status = hd_cmd_write_json(c, o);
    } else {
        json_object_put(t.cases);
    }
    return status != HD_EXIT_DONE ? status : ok ? HD_EXIT_DONE : HD_EXIT_FAILED;
}
