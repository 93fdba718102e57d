/* Stores of a tensor as words of WM, for products that read it as their second operand. */
#include "compiler/machine_ops/machine_ops.h"
#include "runtime/base/num.h"

/* ---- stored words ---- */

/* Rows of the tensor to their place among its words: n blocks of `rows` rows, from lane `lane`;
 * of their channels from c on `run` bytes of each of `words` words. */
static hd_status store_block(struct hd_lowerer *w, const struct hd_placement *tp, uint32_t from,
                             int pitch, int64_t block, int lane, int rows, int n, int c, int run,
                             int words) {
    const struct hd_mtensor *t = tp->t;
    int k = (int)w->m->k, lanes = (int)w->m->n;
    int64_t word = hd_wm_word_bytes(w->m), of_block = t->cp / k * word;
    int64_t at = (int64_t)tp->words + block * of_block + c / k * word + lane * k + c % k;
    hd_lower_begin_store(w, at, from, run);
    hd_lower_runs(w, 1, rows, k, pitch);
    hd_lower_runs(w, 2, words, word, k);
    hd_lower_runs(w, 3, n, of_block, (int64_t)lanes * pitch);
    struct hd_view v = {
        .at = from, .pitch = pitch, .cp = run * words, .rows = n > 1 ? n * lanes : rows, .cols = 1};
    hd_lower_touch(w, &v, false);
    hd_ops_touch(&w->s, HD_SPACE_ARENA, at,
                 at + (n - 1) * of_block + (words - 1) * word + (rows - 1) * (int64_t)k + run,
                 true);
    return hd_ops_end(&w->s);
}

/* The same of channels [c, c + bytes): whole words, and where K > N the rest of one in front of
 * them or behind. */
static hd_status store_blocks(struct hd_lowerer *w, const struct hd_placement *tp, uint32_t from,
                              int pitch, int64_t block, int lane, int rows, int n, int c,
                              int bytes) {
    int k = (int)w->m->k;
    for (int run, words, done = 0; done < bytes; done += run * words) {
        run = (int)hd_min(k - (c + done) % k, bytes - done);
        words = run < k ? 1 : (bytes - done) / k;
        TRY(store_block(w, tp, from + (uint32_t)done, pitch, block, lane, rows, n, c + done, run,
                        words));
    }
    return HD_OK;
}

hd_status hd_lower_store_words(struct hd_lowerer *w, const struct hd_placement *tp, uint32_t from,
                               int pitch, int y, int rows, int c, int bytes) {
    const struct hd_mtensor *t = tp->t;
    int lanes = (int)w->m->n;
    int64_t blocks = hd_ceil_div(t->word_rows, lanes);
    for (int n, done = 0; done < rows; done += n) {
        int in_group = (y + done) % t->word_rows, lane = in_group % lanes;
        int64_t block = (y + done) / t->word_rows * blocks + in_group / lanes;
        n = (int)hd_min(rows - done, t->word_rows - in_group);
        int whole = lane ? 0 : n / lanes;
        n = whole ? whole * lanes : (int)hd_min(n, lanes - lane);
        TRY(store_blocks(w, tp, from + (uint32_t)(done * pitch), pitch, block, lane,
                         whole ? lanes : n, whole ? whole : 1, c, bytes));
    }
    return HD_OK;
}
