// Signals that travel together between modules. Operations are hd_isa_pkg::lx_op_t and its like.
//
// Data and strobes (hd_cfg_pkg::data_t and its like) go beside these structs, and so does what travels
// the other way: `ready` of a request, `gnt` of an access to memory.
package hd_bus_pkg;
  typedef struct packed {
    logic [63:0] ptr;    // AXI address
    logic [31:0] bytes;  // window: access beyond it is an error
  } segment_t;

  typedef struct packed {
    segment_t arena;
    segment_t image;
  } segments_t;

  // What an engine says of its operations, in order: one pulse each.
  typedef struct packed {
    logic       done;      // every effect is visible
    logic       err;       // instead of done: it stopped
    logic [4:0] err_code;
  } result_t;

  // A request of AXI's AR or AW; it holds until it is ready.
  typedef struct packed {
    logic        valid;
    logic [63:0] addr;  // beat-aligned
    logic [7:0]  len;   // beats - 1
  } burst_t;

  // Of a run of whole beats: its next burst.
  typedef struct packed {
    logic       last;
    logic [7:0] len;   // beats - 1
  } cut_t;

  // The next burst of `left` beats that begin at beat `at` of 4 KiB.
  function automatic cut_t cut(input logic [9:0] at, input logic [24:0] left);
    localparam int unsigned Page = 4096 / hd_cfg_pkg::AxiBytes;  // beats
    localparam int unsigned Max  = hd_cfg_pkg::BurstBeats;
    logic [9:0] room, most;
    logic       last;
    room = 10'(Page) - at;
    most = room > 10'(Max) ? 10'(Max) : room;
    last = left <= 25'(Max) && left <= 25'(room);  // beside the length, not behind it
    cut  = {last, 8'((last ? left[9:0] : most) - 10'd1)};
  endfunction

  // A beat of AXI's R, without its data.
  typedef struct packed {
    logic valid;
    logic err;
    logic last;  // of its burst
  } beat_t;

  // Access to a chunk of XM or AM, AxiBytes wide: byte address, aligned. Holds until its grant.
  typedef struct packed {
    logic        xm;
    logic        am;
    logic [27:0] addr;
  } chunk_t;

  typedef struct packed {
    logic xm;
    logic am;
  } chunk_gnt_t;

  // What LW writes: part `part` (AxiBytes) of word `addr` of WM, PM or TM.
  typedef struct packed {
    logic        wm;
    logic        pm;
    logic        tm;
    logic        col;   // of WM, column-wise: part of column k
    logic [5:0]  k;
    logic [23:0] addr;
    logic [8:0]  part;
  } part_t;

  // The runs of a strided transfer between DRAM and a memory on chip: three loops around a run.
  // Units on chip are bytes, of LW words.
  typedef struct packed {
    logic [47:0] n;         // iterations, at least 1; loop l at [16 * l +: 16]
    logic [95:0] ext_step;  // bytes in DRAM, loop l at [32 * l +: 32]
    logic [83:0] loc_step;  // units on chip, loop l at [28 * l +: 28]
    logic [31:0] ext;       // place of the first run: offset in DRAM,
    logic [27:0] loc;       // address on chip
    logic [23:0] run;       // units of each
  } runs_t;

  // A run of LX on its way from addresses to data.
  typedef struct packed {
    logic        mem;   // to AM
    logic        last;  // of its operation
    logic [4:0]  err;
    logic [7:0]  pad;   // byte
    logic [5:0]  off;   // of the first byte in its beat
    logic [23:0] hi;    // end of the valid part,
    logic [23:0] lo;    // begin of it,
    logic [23:0] run;   // bytes
    logic [27:0] loc;   // address on chip
  } load_run_t;

  // A run of ST, to be read.
  typedef struct packed {
    logic [1:0]  sat;
    logic        mem;  // from AM
    logic [23:0] run;  // bytes
    logic [27:0] loc;  // address on chip
  } store_run_t;

  // A burst of ST, to the data side and the responses.
  typedef struct packed {
    logic       last;  // of its operation
    logic [4:0] err;   // instead of a burst
    logic [7:0] len;   // beats - 1
  } store_burst_t;

  // A word read of XM or AM, or the write of one, without data. Holds until its grant.
  typedef struct packed {
    logic        req;
    logic [23:0] addr;
  } word_t;

  // Why a unit stands still in this cycle.
  typedef struct packed {
    logic mem;   // DRAM
    logic bank;  // a bank that another unit has
  } stall_t;

  // What a run is told before it begins.
  typedef struct packed {
    segments_t   seg;
    logic [31:0] code_offset;
  } config_t;

  // The first error of a run; of several in a cycle the one that hd_core chooses.
  typedef struct packed {
    logic        valid;
    logic [4:0]  code;
    logic [2:0]  unit;
    logic [31:0] pc;
  } error_t;

  // What happens in this cycle, for the counters. Bit u is unit u.
  typedef struct packed {
    logic [5:0] stall_bank;
    logic [5:0] stall_mem;
    logic [5:0] stall_sem;
    logic [5:0] busy;
    logic       rd_beat;
    logic       rd_code;   // it is a beat of the program
    logic [6:0] wr_bytes;  // written
  } events_t;

  // AXI4-Lite: what the master says, and what the slave does.
  typedef struct packed {
    logic        awvalid;
    logic [11:0] awaddr;
    logic        wvalid;
    logic [31:0] wdata;
    logic [3:0]  wstrb;
    logic        bready;
    logic        arvalid;
    logic [11:0] araddr;
    logic        rready;
  } axil_req_t;

  typedef struct packed {
    logic        awready;
    logic        wready;
    logic        bvalid;
    logic        arready;
    logic        rvalid;
    logic [31:0] rdata;
  } axil_rsp_t;
endpackage
