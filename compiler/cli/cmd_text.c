/* heddle asm, disasm, check: programs as text and words. */
#include <stdlib.h>
#include <string.h>

#include "compiler/check/check.h"
#include "compiler/cli/cli.h"
#include "runtime/base/io.h"

/* Text or bytes to --out, or to stdout when that is absent or "-". */
static hd_status emit(struct hd_cmd *c, const void *data, size_t bytes) {
    if (c->opt.out && strcmp(c->opt.out, "-"))
        return hd_file_write(c->ctx, c->opt.out, data, bytes);
    if (bytes && fwrite(data, 1, bytes, stdout) != bytes)
        return hd_fail(c->ctx, HD_IO, "cannot write to standard output");
    return HD_OK;
}

static hd_status assemble(struct hd_cmd *c, const char *path, const struct hd_machine *m,
                          uint32_t **words, size_t *n) {
    void *text;
    size_t bytes;
    TRY(hd_file_read(c->ctx, path, &text, &bytes));
    hd_status s = memchr(text, 0, bytes)
                      ? hd_fail(c->ctx, HD_INVALID, "%s: has zero bytes, want text", path)
                      : hd_asm(c->ctx, m, text, path, words, n);
    free(text);
    return s;
}

int cmd_asm(struct hd_cmd *c) {
    struct hd_machine m;
    uint32_t *words = NULL;
    size_t n = 0;
    struct hd_buf b = {0};
    if (!c->opt.out) return hd_cmd_usage(c, "-o OUT.bin is missing: where should the program go?");
    hd_status s = hd_cmd_machine(c, &m);
    if (s == HD_OK) s = assemble(c, c->args[0], &m, &words, &n);
    for (size_t i = 0; s == HD_OK && i < n; i++) hd_buf_u32(&b, words[i]);
    if (s == HD_OK) s = emit(c, b.data, b.n);
    hd_buf_free(&b);
    free(words);
    return s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
}

/* ---- programs in a file --------------------------------------------------------------------- */

struct program {
    uint32_t *words;
    size_t n;
    int step; /* of the model, -1 = the file is one program */
};

struct programs {
    hd_model *model; /* NULL = none */
    struct program *list;
    int n;
};

static hd_status from_words(struct hd_cmd *c, hd_arena *a, const char *path, const void *data,
                            size_t bytes, struct program *out) {
    if (bytes % 4)
        return hd_fail(c->ctx, HD_INVALID, "%s: %zu bytes, a program is whole 4-byte words", path,
                       bytes);
    struct hd_cursor cur = {.data = data, .n = bytes};
    *out = (struct program){
        .words = hd_new_array(a, uint32_t, bytes / 4 + 1), .n = bytes / 4, .step = -1};
    for (size_t i = 0; i < out->n; i++) out->words[i] = hd_cursor_u32(&cur);
    return HD_OK;
}

static hd_status from_model(struct hd_cmd *c, hd_arena *a, const char *path, const void *data,
                            size_t bytes, struct programs *p) {
    TRY(hd_model_load_memory(c->ctx, data, bytes, path, &p->model));
    const hd_model *m = p->model;
    p->list = hd_new_array(a, struct program, (size_t)m->n_steps + 1);
    for (int i = 0; i < m->n_steps; i++) {
        const struct hd_step *s = &m->steps[i];
        if (s->kind != HD_STEP_PROG) continue;
        TRY(from_words(c, a, path, (const char *)m->image + s->code_offset, s->code_bytes,
                       &p->list[p->n]));
        p->list[p->n++].step = i;
    }
    return HD_OK;
}

/* .hdl (all its programs), assembled words, or (text_machine given) assembly text. */
static hd_status load_programs(struct hd_cmd *c, hd_arena *a, const char *path,
                               const struct hd_machine *text_machine, struct programs *p) {
    void *data;
    size_t bytes;
    TRY(hd_file_read(c->ctx, path, &data, &bytes));
    hd_status s;
    p->list = hd_new(a, struct program);
    if (bytes >= 4 && !memcmp(data, "HDL\x1a", 4)) {
        s = from_model(c, a, path, data, bytes, p);
    } else if ((bytes >= 4 && !memcmp(data, "HDL1", 4)) || !text_machine) {
        s = from_words(c, a, path, data, bytes, &p->list[0]);
        p->n = 1;
    } else {
        uint32_t *words = NULL;
        s = assemble(c, path, text_machine, &words, &p->list[0].n);
        if (s == HD_OK) p->list[0].words = hd_dup(a, words, p->list[0].n * 4);
        p->list[0].step = -1;
        p->n = 1;
        free(words);
    }
    free(data);
    return s;
}

int cmd_disasm(struct hd_cmd *c) {
    hd_arena *a = hd_arena_create();
    struct programs p = {0};
    struct hd_buf b = {0};
    hd_status s = load_programs(c, a, c->args[0], NULL, &p);
    for (int i = 0; s == HD_OK && i < p.n; i++) {
        char *text = NULL;
        s = hd_note(c->ctx, hd_disasm(c->ctx, p.list[i].words, p.list[i].n, &text), "in %s",
                    c->args[0]);
        if (s != HD_OK) break;
        if (p.n > 1) {
            const char *head = hd_sprintf(a, "# step %d\n", p.list[i].step);
            hd_buf_put(&b, head, strlen(head));
        }
        hd_buf_put(&b, text, strlen(text));
        free(text);
    }
    if (s == HD_OK) s = emit(c, b.data, b.n);
    hd_buf_free(&b);
    hd_model_destroy(p.model);
    hd_arena_destroy(a);
    return s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
}

/* ---- check ---- */

static void print_findings(const struct hd_check *k, FILE *out) {
    for (int i = 0; i < k->n_findings; i++) {
        const struct hd_finding *f = &k->findings[i];
        fprintf(out, "%s: ", f->error ? "error" : "warning");
        if (f->bundle >= 0) fprintf(out, "bundle %d, word %zu: ", f->bundle, f->word);
        fprintf(out, "%s\n", f->text);
        if (*f->op) fprintf(out, "    %s\n", f->op);
    }
    int more = k->n_errors + k->n_warnings - k->n_findings;
    if (more > 0) fprintf(out, "and %d more\n", more);
}

static json_object *findings_json(const struct hd_check *k) {
    json_object *a = json_object_new_array();
    for (int i = 0; i < k->n_findings; i++) {
        const struct hd_finding *f = &k->findings[i];
        json_object *o = json_object_new_object();
        hd_json_str(o, "severity", f->error ? "error" : "warning");
        json_object_object_add(o, "bundle", f->bundle >= 0 ? json_object_new_int(f->bundle) : NULL);
        hd_json_int(o, "word", (int64_t)f->word);
        hd_json_str(o, "operation", f->op);
        hd_json_str(o, "message", f->text);
        json_object_array_add(a, o);
    }
    return a;
}

int cmd_check(struct hd_cmd *c) {
    hd_arena *a = hd_arena_create();
    struct programs p = {0};
    struct hd_machine m;
    struct hd_check k;
    int64_t n_ops = 0;
    hd_check_init(&k);
    hd_status s = hd_cmd_machine(c, &m);
    if (s == HD_OK) s = load_programs(c, a, c->args[0], &m, &p);
    for (int i = 0; s == HD_OK && i < p.n; i++) {
        struct hd_check_windows w = {
            {p.model ? p.model->image_bytes : 0, p.model ? p.model->arena_bytes : 0}};
        hd_check_program(&k, p.list[i].words, p.list[i].n,
                         p.model && !c->opt.machine ? &p.model->machine : &m, p.model ? &w : NULL);
        n_ops += (int64_t)k.n_ops;
    }
    int status = s != HD_OK ? hd_cmd_fail(c) : k.n_errors ? HD_EXIT_FAILED : HD_EXIT_DONE;
    if (s == HD_OK) {
        if (!hd_cmd_json_on_stdout(c)) {
            print_findings(&k, stdout);
            printf("%s: %d program%s, %lld bundles, %lld operations: %d errors, %d warnings\n",
                   c->args[0], p.n, p.n == 1 ? "" : "s", (long long)k.n_bundles, (long long)n_ops,
                   k.n_errors, k.n_warnings);
        }
        if (c->opt.json) {
            json_object *o = json_object_new_object();
            hd_json_str(o, "schema", "heddle.check/1");
            hd_json_str(o, "file", c->args[0]);
            json_object_object_add(o, "ok", json_object_new_boolean(k.n_errors == 0));
            hd_json_int(o, "bundles", k.n_bundles);
            hd_json_int(o, "operations", n_ops);
            hd_json_int(o, "errors", k.n_errors);
            hd_json_int(o, "warnings", k.n_warnings);
            json_object_object_add(o, "findings", findings_json(&k));
            if (hd_cmd_write_json(c, o) != HD_EXIT_DONE) status = HD_EXIT_FAILED;
        }
    }
    hd_check_deinit(&k);
    hd_model_destroy(p.model);
    hd_arena_destroy(a);
    return status;
}
