// Control registers on AXI4-Lite, the run from start to done, error record, counters, interrupt.
//
// Guarantees: a start resets the core for one cycle, then releases it (core_stop_o low) until it
// halts, fails or is told to stop by soft_reset; then waits until open bursts have ended, and
// raises done (not after soft_reset).
// Latency: 2 cycles for a read or a write.
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

  // ---- the run ---------------------------------------------------------------------------------
  typedef enum logic [1:0] {Idle, Clear, Run, Drain} state_e;
  state_e      state_q;
  logic        start_q, done_q, ready_q, quiet_q, start, soft_reset, finish, read_ctrl;
  logic [4:0]  err_q;
  logic [2:0]  err_unit_q;
  logic [31:0] err_pc_q;

  assign core_rst_no = rst_ni && state_q != Clear;
  assign core_stop_o = state_q != Run;
  assign finish      = state_q == Drain && core_drained_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= Idle;
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
        Idle: if (start && !soft_reset) begin
          state_q    <= Clear;
          start_q    <= 1'b1;
          done_q     <= 1'b0;
          ready_q    <= 1'b0;
          quiet_q    <= 1'b0;
          err_q      <= hd_reg_pkg::ErrNone;
          err_unit_q <= 3'd0;
          err_pc_q   <= '0;
        end
        Clear: state_q <= Run;
        Run: begin
          if (core_err_i.valid) begin
            err_q      <= core_err_i.code;
            err_unit_q <= core_err_i.unit;
            err_pc_q   <= core_err_i.pc;
          end
          if (core_err_i.valid || core_done_i || soft_reset) state_q <= Drain;
          if (soft_reset) quiet_q <= 1'b1;
        end
        default: begin
          if (soft_reset) quiet_q <= 1'b1;
          if (finish) begin
            state_q <= Idle;
            start_q <= 1'b0;
            done_q  <= !quiet_q;
            ready_q <= !quiet_q;
          end
        end
      endcase
    end
  end

  // ---- writes ----------------------------------------------------------------------------------
  logic        bvalid_q, write, gie_q;
  logic [1:0]  ier_q, isr_q;
  logic [31:0] mask;
  logic [63:0] image_ptr_q, arena_ptr_q;
  logic [31:0] image_bytes_q, arena_bytes_q, code_offset_q, watchdog_q;

  assign write      = req_i.awvalid && req_i.wvalid && !bvalid_q;
  assign mask       = {{8{req_i.wstrb[3]}}, {8{req_i.wstrb[2]}}, {8{req_i.wstrb[1]}}, {8{req_i.wstrb[0]}}};
  assign start      = write && req_i.awaddr == hd_reg_pkg::RegApCtrl && req_i.wdata[0] && mask[0];
  assign soft_reset = write && req_i.awaddr == hd_reg_pkg::RegSoftReset && req_i.wdata[0] && mask[0];

  assign cfg_o       = {arena_ptr_q, arena_bytes_q, image_ptr_q, image_bytes_q, code_offset_q, watchdog_q};
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
    end else begin
      bvalid_q <= write || (bvalid_q && !req_i.bready);
      if (write) begin
        unique case (req_i.awaddr)
          hd_reg_pkg::RegGie: if (mask[0]) gie_q <= req_i.wdata[0];
          hd_reg_pkg::RegIer: if (mask[0]) ier_q <= req_i.wdata[1:0];
          hd_reg_pkg::RegImagePtr:
            image_ptr_q[31:0] <= (image_ptr_q[31:0] & ~mask) | (req_i.wdata & mask);
          hd_reg_pkg::RegImagePtr + 12'd4:
            image_ptr_q[63:32] <= (image_ptr_q[63:32] & ~mask) | (req_i.wdata & mask);
          hd_reg_pkg::RegArenaPtr:
            arena_ptr_q[31:0] <= (arena_ptr_q[31:0] & ~mask) | (req_i.wdata & mask);
          hd_reg_pkg::RegArenaPtr + 12'd4:
            arena_ptr_q[63:32] <= (arena_ptr_q[63:32] & ~mask) | (req_i.wdata & mask);
          hd_reg_pkg::RegImageBytes: image_bytes_q <= (image_bytes_q & ~mask) | (req_i.wdata & mask);
          hd_reg_pkg::RegArenaBytes: arena_bytes_q <= (arena_bytes_q & ~mask) | (req_i.wdata & mask);
          hd_reg_pkg::RegCodeOffset: code_offset_q <= (code_offset_q & ~mask) | (req_i.wdata & mask);
          hd_reg_pkg::RegWatchdog: watchdog_q <= (watchdog_q & ~mask) | (req_i.wdata & mask);
          default: ;
        endcase
      end
      isr_q <= (isr_q ^ (write && req_i.awaddr == hd_reg_pkg::RegIsr ? req_i.wdata[1:0] & mask[1:0] : 2'd0))
               | (finish && !quiet_q ? ier_q : 2'd0);
    end
  end

  // ---- counters --------------------------------------------------------------------------------
  // busy, stall_sem, stall_mem, stall_bank of every unit
  logic [63:0]        count_q [4*Units];  // used in one block alone, see hd_nest
  logic [63:0]        cycles_q, read_q, write_q, code_q;
  logic [4*Units-1:0] event_now;
  assign event_now = {events_i.stall_bank, events_i.stall_mem, events_i.stall_sem, events_i.busy};

  always_ff @(posedge clk_i) begin
    if (!rst_ni || state_q == Clear) begin
      cycles_q <= rst_ni ? 64'd1 : 64'd0;
      read_q   <= '0;
      write_q  <= '0;
      code_q   <= '0;
    end else if (state_q != Idle) begin
      cycles_q <= cycles_q + 64'd1;
      if (events_i.rd_beat) read_q <= read_q + 64'(AxiBytes);
      if (events_i.rd_beat && events_i.rd_code) code_q <= code_q + 64'(AxiBytes);
      write_q <= write_q + 64'(events_i.wr_bytes);
    end
  end

  // ---- reads -----------------------------------------------------------------------------------
  logic        rvalid_q, read;
  logic [31:0] rdata_q, rdata;
  logic [2:0]  state_of;  // unit of a state word
  logic [11:0] at;

  assign read      = req_i.arvalid && !rvalid_q;
  assign rsp_o     = {write, write, bvalid_q, read, rvalid_q, rdata_q};
  assign at        = {req_i.araddr[11:2], 2'd0};
  assign state_of  = at[4:2];
  assign read_ctrl = read && at == hd_reg_pkg::RegApCtrl;

  always_comb begin
    rdata = '0;
    if (read) begin
      unique case (at)
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
        hd_reg_pkg::RegIsaVersion:     rdata = hd_isa_pkg::IsaVersion;
        hd_reg_pkg::RegIsaHash:        rdata = hd_isa_pkg::IsaHash;
        hd_reg_pkg::RegMachineHash:    rdata = hd_cfg_pkg::MachineHash;
        hd_reg_pkg::RegError:          rdata = 32'(err_q);
        hd_reg_pkg::RegErrorUnit:      rdata = 32'(err_unit_q);
        hd_reg_pkg::RegErrorPc:        rdata = err_pc_q;
        hd_reg_pkg::RegCycles:         rdata = cycles_q[31:0];
        hd_reg_pkg::RegCycles + 4:     rdata = cycles_q[63:32];
        hd_reg_pkg::RegReadBytes:      rdata = read_q[31:0];
        hd_reg_pkg::RegReadBytes + 4:  rdata = read_q[63:32];
        hd_reg_pkg::RegWriteBytes:     rdata = write_q[31:0];
        hd_reg_pkg::RegWriteBytes + 4: rdata = write_q[63:32];
        hd_reg_pkg::RegCodeBytes:      rdata = code_q[31:0];
        hd_reg_pkg::RegCodeBytes + 4:  rdata = code_q[63:32];
        hd_reg_pkg::RegSemNonzero:     rdata = sem_nonzero_i;
        default: ;
      endcase
      for (int unsigned u = 0; u < Units; u++) begin
        if (state_of == 3'(u)) begin
          if (at[11:5] == hd_reg_pkg::RegQueue[11:5]) rdata = 32'(queued_i[5 * u +: 5]);
          if (at[11:5] == hd_reg_pkg::RegWaitMask[11:5]) rdata = wait_mask_i[32 * u +: 32];
          if (at[11:5] == hd_reg_pkg::RegNextPc[11:5]) rdata = next_pc_i[32 * u +: 32];
          if (at[11:5] == hd_reg_pkg::RegTag[11:5])
            rdata = {active_i[u], 15'd0, tag_i[16 * u +: 16]};
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) rvalid_q <= 1'b0;
    else rvalid_q <= read || (rvalid_q && !req_i.rready);
    if (read) begin
      rdata_q <= rdata;
      for (int unsigned i = 0; i < 4 * Units; i++)
        if (at[11:6] == hd_reg_pkg::RegBusy[11:6] + 6'(i / Units) && at[5:3] == 3'(i % Units))
          rdata_q <= at[2] ? count_q[i][63:32] : count_q[i][31:0];
    end
    if (!rst_ni || state_q == Clear)
      for (int unsigned i = 0; i < 4 * Units; i++) count_q[i] = '0;
    else if (state_q == Run)
      for (int unsigned i = 0; i < 4 * Units; i++)
        if (event_now[i]) count_q[i] = count_q[i] + 64'd1;
  end

  // Counters lie at multiples of 64 bytes, states at multiples of 32.
  `ASSERT_INIT(CounterPlaces, hd_reg_pkg::RegBusy[5:0] == 6'd0 &&
               hd_reg_pkg::RegStallSem == hd_reg_pkg::RegBusy + 12'd64 &&
               hd_reg_pkg::RegStallMem == hd_reg_pkg::RegBusy + 12'd128 &&
               hd_reg_pkg::RegStallBank == hd_reg_pkg::RegBusy + 12'd192)
  `ASSERT_INIT(StatePlaces, hd_reg_pkg::RegQueue[4:0] == 5'd0 &&
               hd_reg_pkg::RegWaitMask[4:0] == 5'd0 && hd_reg_pkg::RegNextPc[4:0] == 5'd0 &&
               hd_reg_pkg::RegTag[4:0] == 5'd0)
endmodule
