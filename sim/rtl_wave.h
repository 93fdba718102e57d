// Waveforms of a traced model: every signal of hd_top, and in scope `heddle` what each unit does,
// in words: layer, operation, state.
#ifndef HD_SIM_RTL_WAVE_H
#define HD_SIM_RTL_WAVE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/rtl_top.h"
#include "verilated_fst_c.h"

extern "C" {
#include "sim/rtl_model.h"
}

class hd_waves {
  public:
    hd_waves(Vhd_sim *top, const hd_wave *want) : top_{top}, want_{want} {}
    bool open();
    // A program that runs next; the one before took `cycles`.
    void begin(uint64_t cycles, const uint32_t *program, size_t n_words);
    void cycle(const hd_rtl_cycle &c); // settled, the clock is low
    void close(uint64_t cycles);       // completes the files

  private:
    struct view { // of a unit, in one cycle
        uint8_t state = 0, code = 0;
        uint16_t layer = 0;
        uint32_t pc = 0;
    };

    static void declare(void *self, VerilatedFst *fst, uint32_t code);
    static void put_all(void *self, VerilatedFst::Buffer *to);
    static void put_changes(void *self, VerilatedFst::Buffer *to);
    void declare_enums(VerilatedFst *fst);
    view view_of(const hd_rtl_cycle &c, int unit) const;
    uint32_t oldest_pc(const hd_rtl_cycle &c, int unit) const;
    bool wanted(const hd_rtl_cycle &c) const;
    void dump(uint64_t half); // half cycles since the file's begin
    void fail(const char *what);
    void write_save();
    void write_group(FILE *f, const std::vector<std::string> &names, int unit) const;
    std::vector<std::string> read_names();

    Vhd_sim *top_;
    const hd_wave *want_;
    std::unique_ptr<VerilatedFstC> file_;
    uint32_t code_ = 0; // of the first signal of scope heddle
    uint64_t base_ = 0; // cycles of the programs before
    uint64_t at_ = 0;   // the cycle that is shown
    uint64_t end_ = 0;  // half cycle of the last dump
    bool recording_ = false;
    bool begun_ = false;
    view units_[HD_UNITS];
    std::vector<uint32_t> program_;
};

#endif
