// Control registers on AXI4-Lite, the run from start to done, error record, counters, interrupt.
//
// Guarantees: a start resets the core for one cycle, then releases it (core_stop_o low) until it
// halts, fails or is told to stop by soft_reset; then waits until open bursts have ended, and
// raises done (not after soft_reset). A start waits until the bursts of a run before have ended. A
// memory that does not answer ends each wait as error watchdog, a second soft_reset ends it at once.
// What a run is told (image_ptr to cycle_limit) cannot change while it lasts. A read of the low half
// of a counter keeps its high half for the read of that.
// Latency: 3 cycles for a read, 2 for a write.
// Throughput: one read and one write at a time.
// Stalls: the answer before it has not been taken. The core is never stalled.
`include "hd_assert.svh"

module hd_csr (
  input  logic                  clk_i, rst_ni,
  output logic                  interrupt_o,

  input  hd_bus_pkg::axil_req_t req_i,
  output hd_bus_pkg::axil_rsp_t rsp_o,

  // Core control
  output logic                  core_rst_no, core_stop_o,
  input  logic                  core_drained_i,
  input  logic                  core_moved_i,  // something made progress
  output hd_bus_pkg::config_t   cfg_o,
  input  logic                  core_done_i,
  input  hd_bus_pkg::error_t    core_err_i,

  // Core state and events, see hd_core
  input  hd_bus_pkg::events_t   events_i,
  input  logic [5:0]            active_i,
  input  logic [95:0]           tag_i,
  input  logic [29:0]           queued_i,
  input  logic [191:0]          wait_mask_i, next_pc_i,
  input  logic [31:0]           sem_nonzero_i
);
  localparam int unsigned AxiBytes = hd_cfg_pkg::AxiBytes;
  localparam int unsigned Units    = hd_isa_pkg::Units;
  localparam int unsigned LimitBits = $clog2(hd_isa_pkg::LimitUnit);

  // ---- the run ---------------------------------------------------------------------------------
  // Wait: a start, and bursts of the run before are still open.
  typedef enum logic [2:0] {Idle, Wait, Clear, Run, Drain} state_e;
  state_e      state_q;
  logic        start_q, done_q, ready_q, quiet_q, start, soft_reset, finish, read_ctrl;
  logic        stop_q;           // state_q is not Run
  logic        stuck_q, over_q;  // no progress for too long; too many cycles
  logic [4:0]  err_q;
  logic [2:0]  err_unit_q;
  logic [31:0] err_pc_q;

  assign core_rst_no = rst_ni && state_q != Clear;
  assign core_stop_o = stop_q;
  assign finish      = !soft_reset && ((state_q == Drain && (core_drained_i || stuck_q)) ||
                                       (state_q == Wait && !core_drained_i && stuck_q));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= Idle;
      stop_q     <= 1'b1;
      start_q    <= 1'b0;
      done_q     <= 1'b0;
      ready_q    <= 1'b0;
      quiet_q    <= 1'b0;
      err_q      <= hd_reg_pkg::ErrNone;
      err_unit_q <= 3'd0;
      err_pc_q   <= '0;
    end else begin
      if (read_ctrl) begin
        done_q  <= 1'b0;
        ready_q <= 1'b0;
      end
      unique case (state_q)
        Idle: if (start) begin
          state_q    <= core_drained_i ? Clear : Wait;
          start_q    <= 1'b1;
          done_q     <= 1'b0;
          ready_q    <= 1'b0;
          quiet_q    <= 1'b0;
          err_q      <= hd_reg_pkg::ErrNone;
          err_unit_q <= 3'd0;
          err_pc_q   <= '0;
        end
        Wait: begin
          if (core_drained_i) state_q <= Clear;
          if (finish) err_q <= hd_reg_pkg::ErrWatchdog;
        end
        Clear: begin
          state_q <= Run;
          stop_q  <= 1'b0;
        end
        Run: begin
          if (core_err_i.valid) begin
            err_q      <= core_err_i.code;
            err_unit_q <= core_err_i.unit;
            err_pc_q   <= core_err_i.pc;
          end else if (!core_done_i && (stuck_q || over_q)) begin
            err_q    <= stuck_q ? hd_reg_pkg::ErrWatchdog : hd_reg_pkg::ErrLimit;
            err_pc_q <= core_err_i.pc;
          end
          if (core_err_i.valid || core_done_i || stuck_q || over_q || soft_reset) begin
            state_q <= Drain;
            stop_q  <= 1'b1;
          end
          if (soft_reset) quiet_q <= 1'b1;
        end
        default: ;
      endcase
      if (finish || (soft_reset && (state_q == Wait || state_q == Drain))) begin
        state_q <= Idle;
        start_q <= 1'b0;
        done_q  <= finish && !quiet_q;
        ready_q <= finish && !quiet_q;
      end
    end
  end

  // ---- writes ----------------------------------------------------------------------------------
  logic        bvalid_q, write, gie_q, refuse;
  logic [1:0]  ier_q, isr_q;
  logic [11:0] to;
  logic [63:0] image_ptr_q, arena_ptr_q;
  logic [31:0] image_bytes_q, arena_bytes_q, code_offset_q, watchdog_q, cycle_limit_q, refused_q;

  assign write      = req_i.awvalid && req_i.wvalid && !bvalid_q;
  assign to         = {req_i.awaddr[11:2], 2'd0};
  assign start      = write && to == hd_reg_pkg::RegApCtrl && req_i.wdata[0] && req_i.wstrb[0];
  assign soft_reset = write && to == hd_reg_pkg::RegSoftReset && req_i.wdata[0] && req_i.wstrb[0];
  assign refuse     = state_q != Idle && (start || (write && to >= hd_reg_pkg::RegImagePtr &&
                                                    to <= hd_reg_pkg::RegCycleLimit));

  assign cfg_o       = {arena_ptr_q, arena_bytes_q, image_ptr_q, image_bytes_q, code_offset_q};
  assign interrupt_o = gie_q && isr_q != 2'd0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bvalid_q      <= 1'b0;
      gie_q         <= 1'b0;
      ier_q         <= 2'd0;
      isr_q         <= 2'd0;
      image_ptr_q   <= '0;
      arena_ptr_q   <= '0;
      image_bytes_q <= '0;
      arena_bytes_q <= '0;
      code_offset_q <= '0;
      watchdog_q    <= '0;
      cycle_limit_q <= '0;
      refused_q     <= '0;
    end else begin
      bvalid_q <= write || (bvalid_q && !req_i.bready);
      if (write && !refuse && req_i.wstrb[0]) begin
        if (to == hd_reg_pkg::RegGie) gie_q <= req_i.wdata[0];
        if (to == hd_reg_pkg::RegIer) ier_q <= req_i.wdata[1:0];
      end
      for (int unsigned b = 0; b < 4; b++)
        if (write && !refuse && req_i.wstrb[b]) begin
          unique case (to)
            hd_reg_pkg::RegImagePtr:           image_ptr_q[8 * b +: 8] <= req_i.wdata[8 * b +: 8];
            hd_reg_pkg::RegImagePtr + 12'd4:   image_ptr_q[8 * b + 32 +: 8] <= req_i.wdata[8 * b +: 8];
            hd_reg_pkg::RegArenaPtr:           arena_ptr_q[8 * b +: 8] <= req_i.wdata[8 * b +: 8];
            hd_reg_pkg::RegArenaPtr + 12'd4:   arena_ptr_q[8 * b + 32 +: 8] <= req_i.wdata[8 * b +: 8];
            hd_reg_pkg::RegImageBytes:         image_bytes_q[8 * b +: 8] <= req_i.wdata[8 * b +: 8];
            hd_reg_pkg::RegArenaBytes:         arena_bytes_q[8 * b +: 8] <= req_i.wdata[8 * b +: 8];
            hd_reg_pkg::RegCodeOffset:         code_offset_q[8 * b +: 8] <= req_i.wdata[8 * b +: 8];
            hd_reg_pkg::RegWatchdog:           watchdog_q[8 * b +: 8] <= req_i.wdata[8 * b +: 8];
            hd_reg_pkg::RegCycleLimit:         cycle_limit_q[8 * b +: 8] <= req_i.wdata[8 * b +: 8];
            default: ;
          endcase
        end
      if (start && !refuse) refused_q <= '0;
      else if (refuse) refused_q <= refused_q + 32'd1;
      isr_q <= (isr_q ^ (write && to == hd_reg_pkg::RegIsr && req_i.wstrb[0] ? req_i.wdata[1:0] : 2'd0))
               | (finish && !quiet_q ? ier_q : 2'd0);
    end
  end

  // ---- runs that do not end --------------------------------------------------------------------
  logic [31:0] still_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || core_moved_i || state_q == Idle || state_q == Clear) begin
      still_q <= '0;
      stuck_q <= 1'b0;
    end else begin
      still_q <= still_q + 32'd1;
      stuck_q <= watchdog_q != '0 && still_q >= watchdog_q;
    end
    over_q <= rst_ni && state_q == Run && cycle_limit_q != '0 &&
              32'(cycles_q[63:LimitBits]) >= cycle_limit_q;
  end

  // ---- counters --------------------------------------------------------------------------------
  // busy, stall_sem, stall_mem, stall_bank of every unit: a counter is a word of a memory, and a few
  // events since its last turn. Each cycle without a read of registers is the turn of one.
  localparam int unsigned TurnBits = 5;  // kind, unit
  logic [63:0]         sums  [1 << TurnBits];
  logic [5:0]          few   [1 << TurnBits];  // used in one block alone, see hd_nest
  logic [31:0]         clean_q;                // its word is not written yet: 0
  logic [TurnBits-1:0] turn_d, turn_q, place_q;
  logic [63:0]         cycles_q, read_q, write_q, code_q;
  logic [4*Units-1:0]  event_q;   // of the cycle before, so that no path leads from units to counters
  logic                rd_beat_q, rd_code_q;
  logic [6:0]          wr_bytes_q;

  always_ff @(posedge clk_i) begin
    event_q    <= state_q != Run ? '0 :
                  {events_i.stall_bank, events_i.stall_mem, events_i.stall_sem, events_i.busy};
    rd_beat_q  <= (state_q == Run || state_q == Drain) && events_i.rd_beat;
    rd_code_q  <= events_i.rd_code;
    wr_bytes_q <= state_q == Run || state_q == Drain ? events_i.wr_bytes : 7'd0;
    if (!rst_ni || state_q == Clear || state_q == Wait) begin
      cycles_q <= 64'(state_q == Clear);
      read_q   <= '0;
      write_q  <= '0;
      code_q   <= '0;
    end else begin
      if (state_q != Idle) cycles_q <= cycles_q + 64'd1;
      if (rd_beat_q) read_q <= read_q + 64'(AxiBytes);
      if (rd_beat_q && rd_code_q) code_q <= code_q + 64'(AxiBytes);
      write_q <= write_q + 64'(wr_bytes_q);
    end
  end

  // ---- reads -----------------------------------------------------------------------------------
  logic        rvalid_q, read, asked_q, half, of_unit;
  logic [31:0] rdata_q, rdata, high_q;  // high_q: of the counter whose low half was read last
  logic [63:0] count;     // at hand
  logic [2:0]  state_of;  // unit of a state word
  logic [11:0] at_q;

  assign read      = req_i.arvalid && !rvalid_q && !asked_q;
  assign rsp_o     = {write, write, bvalid_q, read, rvalid_q, rdata_q};
  assign state_of  = at_q[4:2];
  assign read_ctrl = asked_q && at_q == hd_reg_pkg::RegApCtrl;

  assign of_unit = at_q >= hd_reg_pkg::RegBusy && at_q < hd_reg_pkg::RegBusy + 12'd256;
  assign turn_d  = asked_q ? turn_q : turn_q + TurnBits'(1);

  always_comb begin
    half  = 1'b1;
    count = '0;
    unique case (at_q & ~12'd4)
      hd_reg_pkg::RegCycles:     count = cycles_q;
      hd_reg_pkg::RegReadBytes:  count = read_q;
      hd_reg_pkg::RegWriteBytes: count = write_q;
      hd_reg_pkg::RegCodeBytes:  count = code_q;
      default: half = of_unit;
    endcase
  end

  always_comb begin
    rdata = '0;
    if (asked_q) begin
      unique case (at_q)
        hd_reg_pkg::RegApCtrl:         rdata = {28'd0, ready_q, state_q == Idle, done_q, start_q};
        hd_reg_pkg::RegGie:            rdata = 32'(gie_q);
        hd_reg_pkg::RegIer:            rdata = 32'(ier_q);
        hd_reg_pkg::RegIsr:            rdata = 32'(isr_q);
        hd_reg_pkg::RegImagePtr:       rdata = image_ptr_q[31:0];
        hd_reg_pkg::RegImagePtr + 4:   rdata = image_ptr_q[63:32];
        hd_reg_pkg::RegArenaPtr:       rdata = arena_ptr_q[31:0];
        hd_reg_pkg::RegArenaPtr + 4:   rdata = arena_ptr_q[63:32];
        hd_reg_pkg::RegImageBytes:     rdata = image_bytes_q;
        hd_reg_pkg::RegArenaBytes:     rdata = arena_bytes_q;
        hd_reg_pkg::RegCodeOffset:     rdata = code_offset_q;
        hd_reg_pkg::RegWatchdog:       rdata = watchdog_q;
        hd_reg_pkg::RegCycleLimit:     rdata = cycle_limit_q;
        hd_reg_pkg::RegRefused:        rdata = refused_q;
        hd_reg_pkg::RegIsaVersion:     rdata = hd_isa_pkg::IsaVersion;
        hd_reg_pkg::RegIsaHash:        rdata = hd_isa_pkg::IsaHash;
        hd_reg_pkg::RegMachineHash:    rdata = hd_cfg_pkg::MachineHash;
        hd_reg_pkg::RegError:          rdata = 32'(err_q);
        hd_reg_pkg::RegErrorUnit:      rdata = 32'(err_unit_q);
        hd_reg_pkg::RegErrorPc:        rdata = err_pc_q;
        hd_reg_pkg::RegSemNonzero:     rdata = sem_nonzero_i;
        default: ;
      endcase
      for (int unsigned u = 0; u < Units; u++) begin
        if (state_of == 3'(u)) begin
          if (at_q[11:5] == hd_reg_pkg::RegQueue[11:5]) rdata = 32'(queued_i[5 * u +: 5]);
          if (at_q[11:5] == hd_reg_pkg::RegWaitMask[11:5]) rdata = wait_mask_i[32 * u +: 32];
          if (at_q[11:5] == hd_reg_pkg::RegNextPc[11:5]) rdata = next_pc_i[32 * u +: 32];
          if (at_q[11:5] == hd_reg_pkg::RegTag[11:5])
            rdata = {active_i[u], 15'd0, tag_i[16 * u +: 16]};
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin : gen_read
    logic [63:0] value;
    value = (clean_q[place_q] ? 64'd0 : sums[place_q]) + 64'(few[place_q]);
    if (!rst_ni) begin
      asked_q  <= 1'b0;
      rvalid_q <= 1'b0;
    end else begin
      asked_q  <= read;
      rvalid_q <= asked_q || (rvalid_q && !req_i.rready);
    end
    if (read) at_q <= {req_i.araddr[11:2], 2'd0};
    turn_q  <= rst_ni ? turn_d : '0;
    place_q <= !rst_ni ? '0 : read ? {req_i.araddr[7:6] - hd_reg_pkg::RegBusy[7:6], req_i.araddr[5:3]} : turn_d;
    if (asked_q) begin
      rdata_q <= half && at_q[2] ? high_q : half ? count[31:0] : rdata;
      if (half && !at_q[2]) begin
        high_q <= count[63:32];
        if (of_unit) {high_q, rdata_q} <= value;
      end
    end
    if (!rst_ni || state_q == Clear) begin
      clean_q <= '1;
      for (int unsigned i = 0; i < 1 << TurnBits; i++) few[i] = '0;
    end else begin
      if (!asked_q) begin
        sums[place_q]    <= value;
        clean_q[place_q] <= 1'b0;
        few[place_q]     = '0;
      end
      for (int unsigned k = 0; k < 4; k++)
        for (int unsigned u = 0; u < Units; u++)
          if (event_q[Units * k + u]) few[8 * k + u] = few[8 * k + u] + 6'd1;
    end
  end

  // Counters lie at multiples of 8 and 64 bytes, states at multiples of 32.
  `ASSERT_INIT(HalfPlaces, ((hd_reg_pkg::RegCycles | hd_reg_pkg::RegReadBytes |
                             hd_reg_pkg::RegWriteBytes | hd_reg_pkg::RegCodeBytes) & 12'd7) == '0)
  `ASSERT_INIT(CounterPlaces, hd_reg_pkg::RegBusy[5:0] == 6'd0 &&
               hd_reg_pkg::RegStallSem == hd_reg_pkg::RegBusy + 12'd64 &&
               hd_reg_pkg::RegStallMem == hd_reg_pkg::RegBusy + 12'd128 &&
               hd_reg_pkg::RegStallBank == hd_reg_pkg::RegBusy + 12'd192)
  // A turn comes within 32 cycles and the reads between them, which are 3 cycles apart at least.
  `ASSERT(StopIsState, stop_q == (state_q != Run))
  `ASSERT(PlaceIsTurn, asked_q || place_q == turn_q)
  `ASSERT(FewFit, few[0] < 6'd63)
  `ASSERT_INIT(StatePlaces, hd_reg_pkg::RegQueue[4:0] == 5'd0 &&
               hd_reg_pkg::RegWaitMask[4:0] == 5'd0 && hd_reg_pkg::RegNextPc[4:0] == 5'd0 &&
               hd_reg_pkg::RegTag[4:0] == 5'd0)
endmodule
