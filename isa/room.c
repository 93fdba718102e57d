/* What of the encoding is free, and what it is kept for: the ROOM rows of isa.def. */
#include "isa/isa.h"

const struct hd_isa_room hd_isa_rooms[] = {
#define ROOM(of, unit, at, lsb, width, doc) {HD_ROOM_##of, HD_UNIT_##unit, at, lsb, width, doc},
#include "isa/isa.def"
};
const int hd_n_isa_rooms = sizeof hd_isa_rooms / sizeof hd_isa_rooms[0];

static uint32_t bits(int lsb, int width) {
    return (width == 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1) << lsb;
}

uint32_t hd_word_named(enum hd_unit unit, int word) {
    uint32_t named = 0;
    for (int f = 0; f < HD_FIELDS; f++)
        if (hd_isa_fields[f].unit == unit && hd_isa_fields[f].word == word)
            named |= bits(hd_isa_fields[f].lsb, hd_isa_fields[f].width);
    return named;
}

const char *hd_room_for(enum hd_unit unit, int word, uint32_t those) {
    for (int i = 0; i < hd_n_isa_rooms; i++) {
        const struct hd_isa_room *r = &hd_isa_rooms[i];
        if (r->of == HD_ROOM_bits && r->unit == unit && r->at == word &&
            (bits(r->lsb, r->width) & those))
            return r->doc;
    }
    return "nothing yet";
}

static uint32_t head_named(void) {
    return 0
#define HEAD(field, lsb, width, doc) | bits(lsb, width)
#include "isa/isa.def"
        ;
}

static uint32_t bundle_named(void) {
    return 0
#define BUNDLE(field, lsb, width, doc) | bits(lsb, width)
#include "isa/isa.def"
        ;
}

/* Whether nothing has what the row names. */
static bool is_free(const struct hd_isa_room *r) {
    int end = r->at + r->width, words = hd_isa_units[r->unit].n_words;
    switch (r->of) {
    case HD_ROOM_bundle:
        return !(bundle_named() & bits(r->lsb, r->width));
    case HD_ROOM_head:
        return !(head_named() & bits(r->lsb, r->width));
    case HD_ROOM_bits:
        return r->at < words && !(hd_word_named(r->unit, r->at) & bits(r->lsb, r->width));
    case HD_ROOM_words:
        return r->at >= words && end <= HD_PARAM_WORDS;
    case HD_ROOM_codes:
        for (int c = r->at; c < end; c++)
            if (hd_op_by_code(r->unit, (unsigned)c) >= 0) return false;
        return end <= 1 << HD_HEAD_code_BITS;
    }
    return false;
}

bool hd_rooms_are_free(void) {
    for (int i = 0; i < hd_n_isa_rooms; i++) {
        const struct hd_isa_room *a = &hd_isa_rooms[i];
        if (!is_free(a)) return false;
        for (int j = 0; j < i; j++) {
            const struct hd_isa_room *b = &hd_isa_rooms[j];
            bool same = a->of == b->of && a->unit == b->unit && a->at == b->at;
            if (same && (bits(a->lsb, a->width) & bits(b->lsb, b->width))) return false;
        }
    }
    return true;
}
