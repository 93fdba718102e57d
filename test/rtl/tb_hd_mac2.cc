// hd_mac2, as logic and with the DSP48E2: all 2^9 activations by all 2^16 pairs of weights.
#include <cstdio>

#include "Vtb_hd_mac2.h"
#include "verilated.h"

int main() {
    VerilatedContext ctx;
    Vtb_hd_mac2 top{&ctx};
    long bad = 0;
    auto signed18 = [](unsigned v) { return int(v << 14) >> 14; };
    auto clock = [&] {
        top.clk_i = 0;
        top.eval();
        top.clk_i = 1;
        top.eval();
    };
    for (int pair = 0; pair < 1 << 16 && !bad; pair++) {
        int w0 = int8_t(pair), w1 = int8_t(pair >> 8);
        top.we_i = 1;
        top.en_i = 0;
        top.w0_i = uint8_t(w0);
        top.w1_i = uint8_t(w1);
        clock();
        top.we_i = 0; // the weights stay
        top.w0_i = uint8_t(~w0);
        top.w1_i = uint8_t(w0 ^ 0x55);
        top.en_i = 1;
        for (int x = -256; x < 256 && !bad; x++) {
            top.x_i = unsigned(x) & 0x1ff;
            clock();
            int want0 = w0 * x, want1 = w1 * x;
            bad += signed18(top.logic0_o) != want0 || signed18(top.logic1_o) != want1 ||
                   signed18(top.dsp0_o) != want0 || signed18(top.dsp1_o) != want1;
            if (bad)
                fprintf(stderr, "tb_hd_mac2: x %d, w %d and %d: logic %d and %d, DSP %d and %d\n", x, w0,
                        w1, signed18(top.logic0_o), signed18(top.logic1_o), signed18(top.dsp0_o),
                        signed18(top.dsp1_o));
        }
        top.en_i = 0; // products hold
        top.x_i = 1;
        clock();
        bad += signed18(top.logic1_o) != w1 * 255 || signed18(top.dsp1_o) != w1 * 255;
    }
    printf("tb_hd_mac2: %s, 33554432 products of two weights\n", bad ? "FAIL" : "ok");
    return bad != 0;
}
