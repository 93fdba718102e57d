// Chains of two hd_mac2, as logic and with the DSP48E2: all 2^9 activations by all 2^16 pairs of weights in the first
// link, others beside them in the last.
#include <cstdio>
#include <cstdlib>

#include "Vtb_hd_mac2.h"
#include "verilated.h"

static VerilatedContext ctx;
static Vtb_hd_mac2 top{&ctx};

static int signed18(unsigned v) { return int(v << 14) >> 14; }

static void expect(int x, int want0, int want1) {
    if (signed18(top.logic0_o) == want0 && signed18(top.logic1_o) == want1 &&
        signed18(top.dsp0_o) == want0 && signed18(top.dsp1_o) == want1)
        return;
    printf("tb_hd_mac2: FAIL, x %d: %d and %d wanted, logic %d and %d, DSP %d and %d\n", x, want0, want1,
           signed18(top.logic0_o), signed18(top.logic1_o), signed18(top.dsp0_o), signed18(top.dsp1_o));
    exit(1);
}

static void tick() {
    top.clk_i = 0;
    top.eval();
    top.clk_i = 1;
    top.eval();
}

int main() {
    for (int pair = 0; pair < 1 << 16; pair++) {
        int w0 = int8_t(pair), w1 = int8_t(pair >> 8), late0 = 0, late1 = 0;
        top.we_i = 1;
        top.en_i = 0;
        top.sum_i = 0;
        top.w0_i = uint8_t(w0);
        top.w1_i = uint8_t(w1);
        tick();
        top.we_i = 0; // the weights stay
        top.w0_i = uint8_t(~w0);
        top.w1_i = uint8_t(w0 ^ 0x55);
        top.en_i = 1;
        for (int x = -256; x < 256; x++) {
            int v0 = int8_t(x + pair), v1 = int8_t(w1 - x), z = ((x * 5 + pair) & 1023) - 512;
            top.x_i = unsigned(x) & 1023;
            top.v0_i = uint8_t(v0);
            top.v1_i = uint8_t(v1);
            top.z_i = unsigned(z) & 1023;
            tick();
            if (top.sum_i) expect(x - 1, late0, late1);
            top.sum_i = 1; // of the products of this step, in the next
            late0 = w0 * x + v0 * z, late1 = w1 * x + v1 * z;
        }
        top.en_i = 0; // products hold while the sums are taken, then these hold
        top.x_i = 1;
        top.z_i = 3;
        tick();
        expect(255, late0, late1);
        top.sum_i = 0;
        top.en_i = 1;
        tick();
        expect(255, late0, late1);
    }
    printf("tb_hd_mac2: ok, 33554432 pairs of sums\n");
    return 0;
}
