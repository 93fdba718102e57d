/* Schedules: text to value and back. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/loop/loop_int.h"

static const struct {
    const char *name, *arguments;
} steps[HD_STEPS] = {
#define STEP(name, arguments, meaning) {#name, arguments},
#include "compiler/loop/steps.def"
};

static const char *argument_text(char kind) {
    switch (kind) {
    case 's':
        return "a statement";
    case 'l':
    case 'L':
        return "a loop";
    case 'n':
        return "a number";
    case 't':
        return "a tensor";
    case 'b':
        return "block.x .. thread.z";
    case 'i':
        return "an intrinsic";
    default:
        return "a new name";
    }
}

static bool is_name(const char *w) {
    if (!isalpha((unsigned char)*w) && *w != '_') return false;
    for (; *w; w++)
        if (!isalnum((unsigned char)*w) && *w != '_') return false;
    return true;
}

static hd_status argument(hd_ctx *ctx, struct hd_schedule_step *s, int i, char kind) {
    const char *w = s->word[i];
    bool ok = is_name(w);
    if (kind == 'n') {
        char *end;
        errno = 0;
        s->number[i] = strtoll(w, &end, 10);
        ok = isdigit((unsigned char)*w) && !*end && !errno;
    } else if (kind == 'b') {
        ok = false;
        for (int m = HD_LOOP_BLOCK_X; m < HD_LOOP_MARKS; m++)
            ok = ok || !strcmp(hd_loop_mark_text[m], w);
    }
    if (ok) return HD_OK;
    return hd_fail(ctx, HD_INVALID, "schedule, line %d (%s): argument %d is '%.32s', want %s",
                   s->line, steps[s->step].name, i + 1, w, argument_text(kind));
}

static hd_status read_step(hd_ctx *ctx, hd_arena *a, char **word, int n, int line,
                           struct hd_schedule *out) {
    struct hd_schedule_step s = {.step = HD_STEPS, .line = line};
    for (int k = 0; k < HD_STEPS; k++)
        if (!strcmp(steps[k].name, word[0])) s.step = (enum hd_schedule_kind)k;
    if (s.step == HD_STEPS)
        return hd_fail(
            ctx, HD_INVALID,
            "schedule, line %d: '%.32s' is no step; there are split, reorder, fuse, "
            "unroll, vectorize, parallel, bind, compute_at, cache, share, share_last, pack, "
            "tensorize, gemm",
            line, word[0]);
    const char *kinds = steps[s.step].arguments;
    int most = (int)strlen(kinds);
    s.n = n - 1;
    if (strchr(kinds, 'L') ? s.n < most : s.n != most)
        return hd_fail(ctx, HD_INVALID, "schedule, line %d: %s has %d arguments, allowed %s%d",
                       line, word[0], s.n, strchr(kinds, 'L') ? "at least " : "", most);
    s.word = hd_new_array(a, const char *, (size_t)s.n);
    for (int i = 0; i < s.n; i++) {
        s.word[i] = hd_strdup(a, word[i + 1]);
        TRY(argument(ctx, &s, i, kinds[i < most ? i : most - 1]));
    }
    *hd_push(a, out->step, out->n, out->cap) = s;
    return HD_OK;
}

hd_status hd_schedule_parse(hd_ctx *ctx, hd_arena *a, const char *text, struct hd_schedule **out) {
    struct hd_schedule *s = hd_new(a, struct hd_schedule);
    if (strlen(text) > HD_LOOP_BYTES)
        return hd_fail(ctx, HD_INVALID, "schedule: %zu bytes, at most %d", strlen(text),
                       HD_LOOP_BYTES);
    for (int line = 1; *text; line++) {
        size_t n_line = strcspn(text, "\n");
        char *row = hd_strndup(a, text, n_line), *save_row = NULL;
        row[strcspn(row, "#")] = 0;
        for (char *part = strtok_r(row, ";", &save_row); part;
             part = strtok_r(NULL, ";", &save_row)) {
            char *word[HD_LOOP_WORDS], *save = NULL;
            int n = 0;
            for (char *w = strtok_r(part, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save)) {
                if (n == HD_LOOP_WORDS)
                    return hd_fail(ctx, HD_INVALID, "schedule, line %d: more than %d words", line,
                                   HD_LOOP_WORDS);
                word[n++] = w;
            }
            if (n) TRY(read_step(ctx, a, word, n, line, s));
        }
        text += n_line + (text[n_line] == '\n');
    }
    *out = s;
    return HD_OK;
}

const char *hd_schedule_text(hd_arena *a, const struct hd_schedule *s) {
    const char *text = "";
    for (size_t i = 0; i < s->n; i++) {
        const struct hd_schedule_step *k = &s->step[i];
        const char *line = steps[k->step].name;
        for (int w = 0; w < k->n; w++) line = hd_sprintf(a, "%s %s", line, k->word[w]);
        text = hd_sprintf(a, "%s%s\n", text, line);
    }
    return text;
}
