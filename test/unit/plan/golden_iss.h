/* A graph with one input and one or two outputs of bytes, compiled: golden's results are the
 * ISS's. */
#ifndef HD_TEST_UNIT_TILE_GOLDEN_ISS_H
#define HD_TEST_UNIT_TILE_GOLDEN_ISS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "isa/isa.h"
#include "runtime/runtime.h"

/* By so much the estimate may be off. */
enum { ESTIMATE_PART = 25, ESTIMATE_CYCLES = 96 };

/* A name, and parameters behind it: "tiny am_bytes=65536". */
static inline hd_status load_machine(hd_ctx *ctx, const char *text, struct hd_machine *out) {
    char copy[128], *at = copy;
    size_t n = strcspn(text, " ");
    assert_true(strlen(text) < sizeof copy);
    strcpy(copy, text);
    copy[n] = 0;
    hd_status s = hd_machine_load(ctx, copy, out);
    for (const char *p = text + n; s == HD_OK && *p; p = text + n) {
        size_t length = strcspn(++p, " ");
        memcpy(at, p, length), at[length] = 0;
        s = hd_machine_set(ctx, out, at);
        n = (size_t)(p - text) + length;
    }
    return s == HD_OK ? hd_machine_check(ctx, out) : s;
}

/* Takes the graph. The model is the caller's. Of one program the estimate must be near. knobs:
 * NULL, or how plans are searched. */
static inline hd_model *golden_is_iss_by(hd_ctx *ctx, hd_graph *g, const char *machine,
                                         uint32_t latency, const struct hd_knobs *knobs) {
    struct hd_compile_options o = {.latency_hiding = true, .mem_latency = latency, .knobs = knobs};
    hd_model *model = NULL;
    size_t in = (size_t)hd_tensor_elems(&g->tensors[g->inputs[0]]), out[2] = {0};
    assert_true(g->n_outputs <= 2);
    for (size_t i = 0; i < g->n_outputs; i++)
        out[i] = (size_t)hd_tensor_elems(&g->tensors[g->outputs[i]]);
    if (load_machine(ctx, machine, &o.machine) != HD_OK || hd_lower(ctx, g, &o, &model) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    int8_t *x = malloc(in + 1), *y[2];
    for (size_t i = 0; i < in; i++) x[i] = (int8_t)(i * 53 + i / 5);
    for (int i = 0; i < 2; i++) {
        hd_session *s;
        struct hd_device_options d = {.machine = model->machine, .mem = {.latency = latency}};
        struct hd_counters k;
        y[i] = malloc(out[0] + out[1] + 1);
        memset(y[i], i, out[0] + out[1]); /* what a device leaves out differs */
        if (hd_session_open(ctx, model, i ? "iss" : "golden", &d, &s) != HD_OK ||
            hd_session_run(ctx, s, (const void *[]){x}, (void *[]){y[i], y[i] + out[0]}) != HD_OK)
            fail_msg("%s", hd_message(ctx));
        if (i && model->n_steps == 1) {
            if (hd_session_counters(ctx, s, &k) != HD_OK) fail_msg("%s", hd_message(ctx));
            int64_t off = model->steps[0].estimate - (int64_t)k.cycles;
            assert_in_range(llabs(off), 0, k.cycles / ESTIMATE_PART + ESTIMATE_CYCLES);
        }
        hd_session_close(s);
    }
    assert_memory_equal(y[0], y[1], out[0] + out[1]);
    for (int i = 0; i < 2; i++) free(y[i]);
    free(x);
    hd_graph_destroy(g);
    return model;
}

static inline hd_model *golden_is_iss(hd_ctx *ctx, hd_graph *g, const char *machine,
                                      uint32_t latency) {
    return golden_is_iss_by(ctx, g, machine, latency, NULL);
}

/* Operations of that name in all programs, as they issue. */
static inline int operations(hd_ctx *ctx, const hd_model *m, const char *name) {
    int n = 0;
    for (int i = 0; i < m->n_steps; i++) {
        const struct hd_step *s = &m->steps[i];
        char *text;
        if (s->kind != HD_STEP_PROG) continue;
        const void *code = (const char *)m->image + s->code_offset;
        assert_int_equal(hd_disasm(ctx, code, s->code_bytes / 4, &text), HD_OK);
        for (const char *at = text; (at = strstr(at, name)); at++) n++;
        free(text);
    }
    return n;
}

#endif
