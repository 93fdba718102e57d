// Accumulator memory: words of N x 32 bits, two banks split by the top address bit.
//
// Guarantees: per bank and cycle one read is granted, priority MX > VX.A > VX.B > ST, and one
// write, MX > VX > LX, in the cycle of the request. MX is always granted. ST and LX move chunks of
// AxiBytes inside a word, LX with byte enables of whole lanes. A write is visible to reads granted
// in the next cycle. Addresses lie inside the memory (the engines check them).
// Latency: read data 2 cycles after the grant, held until the data of the port's next grant.
// Throughput: a word or chunk per port and cycle.
// Stalls: the bank is taken by a port before it; the request holds until its grant.
module hd_am (
  input  logic                clk_i, rst_ni,

  // MX: read (for accumulate) and write
  input  hd_bus_pkg::word_t   mx_i, mxw_next_i,  // the write a cycle before its data
  output hd_cfg_pkg::sums_t   mx_rdata_o,
  input  hd_cfg_pkg::sums_t   mxw_wdata_i,

  // VX: two reads and a write
  input  hd_bus_pkg::word_t   vxa_i, vxb_i, vxw_i,
  input  logic                vx_go_i, vx_end_i,  // see hd_vx
  input  logic [2:0]          vx_asks_i,
  output logic                vxa_free_o, vxb_free_o, vx_same_o,  // see hd_vx
  output logic                vxw_gnt_o,
  output hd_cfg_pkg::sums_t   vxa_rdata_o, vxb_rdata_o,
  input  hd_cfg_pkg::sums_t   vxw_wdata_i,

  // LX write and ST read: byte addresses of AxiBytes-aligned chunks
  input  hd_bus_pkg::chunk_t  lx_i,  // its xm is hd_xm's
  input  hd_cfg_pkg::data_t   lx_wdata_i,
  input  hd_cfg_pkg::strobe_t lx_be_i,
  output logic                lx_gnt_o,
  input  hd_bus_pkg::chunk_t  st_i,
  output logic                st_gnt_o,
  output hd_cfg_pkg::data_t   st_rdata_o
);
  localparam int unsigned N        = hd_cfg_pkg::N;
  localparam int unsigned AxiBytes = hd_cfg_pkg::AxiBytes;
  localparam int unsigned Words    = hd_cfg_pkg::AmWords;
  // Where a word is shorter than a chunk, LX and ST refuse AM; then these ports are idle.
  localparam int unsigned Chunk   = AxiBytes < 4 * N ? AxiBytes : 4 * N;
  localparam int unsigned OffBits = $clog2(4 * N);
  localparam int unsigned RowBits = $clog2(Words) - 1;
  // Chunks are aligned: said here so that no byte shifter is made for them.
  localparam logic [OffBits-1:0] ChunkMask = OffBits'(~(Chunk - 1));

  logic        mx_rbank, a_bank, b_bank, w_bank, lx_bank, st_bank;
  logic [23:0] lx_word, st_word;
  assign lx_word  = 24'(lx_i.addr >> OffBits);
  assign st_word  = 24'(st_i.addr >> OffBits);
  assign lx_bank  = lx_word[RowBits];
  assign st_bank  = st_word[RowBits];
  assign mx_rbank = mx_i.addr[RowBits];
  assign a_bank   = vxa_i.addr[RowBits];
  assign b_bank   = vxb_i.addr[RowBits];
  assign w_bank   = vxw_i.addr[RowBits];

  // MX's write of this cycle: its bank, one bit of two, and its row.
  logic [1:0]         mxw_here_q;
  logic [RowBits-1:0] mxw_row_q;
  always_ff @(posedge clk_i) begin
    mxw_here_q <= {2{rst_ni && mxw_next_i.req}} & {mxw_next_i.addr[RowBits], !mxw_next_i.addr[RowBits]};
    mxw_row_q  <= mxw_next_i.addr[RowBits-1:0];
  end

  logic vxa_gnt, vxb_gnt;
  assign vxa_free_o = !(mx_i.req && mx_rbank == a_bank);
  assign vxb_free_o = !(mx_i.req && mx_rbank == b_bank);
  assign vx_same_o  = a_bank == b_bank;
  assign vxa_gnt    = vxa_i.req && vxa_free_o;
  assign vxb_gnt    = vxb_i.req && vxb_free_o && !(vxa_i.req && vx_same_o);
  assign vxw_gnt_o = vxw_i.req && !mxw_here_q[w_bank];

  assign st_gnt_o  = st_i.am && !(mx_i.req && mx_rbank == st_bank) &&
                     !(vx_go_i && ((vx_asks_i[0] && a_bank == st_bank) || (vx_asks_i[1] && b_bank == st_bank) ||
                                   (vx_end_i && vx_asks_i[2] && b_bank == st_bank)));
  assign lx_gnt_o  = lx_i.am && !mxw_here_q[lx_bank] &&
                     !(vxw_i.req && w_bank == lx_bank);

  // A chunk of LX in word form: the data repeats, the lane enables choose.
  logic [32*N-1:0] lx_row;
  logic [N-1:0]    lx_lanes;
  assign lx_row = {4 * N / Chunk{lx_wdata_i[8*Chunk-1:0]}};
  always_comb begin
    lx_lanes = '0;
    for (int unsigned n = 0; n < N; n++)
      lx_lanes[n] = lx_be_i[4 * n % Chunk] &&
                    4 * n / Chunk == 32'(lx_i.addr[OffBits-1:0]) / Chunk;
  end

  if (Chunk < AxiBytes) begin : gen_idle
    logic unused_lx;
    assign unused_lx = ^lx_wdata_i[8*AxiBytes-1:8*Chunk];
  end

  logic [64*N-1:0] rdata;  // both banks

  for (genvar b = 0; b < 2; b++) begin : gen_bank
    logic mx_r, a_here, b_here, st_here;
    assign mx_r    = mx_i.req && mx_rbank == (b == 1);
    assign a_here  = vxa_gnt && a_bank == (b == 1);
    assign b_here  = vxb_gnt && b_bank == (b == 1);
    assign st_here = st_gnt_o && st_bank == (b == 1);

    logic [N-1:0]       lanes;
    logic [RowBits-1:0] wrow;
    logic [32*N-1:0]    wdata;
    hd_am_write #(.Bank(b == 1), .RowBits(RowBits)) u_write (
      .mx_we_i(mxw_here_q[b]), .mx_row_i(mxw_row_q), .mx_wdata_i(mxw_wdata_i),
      .vx_i(vxw_i), .vx_wdata_i(vxw_wdata_i),
      .lx_we_i(lx_gnt_o && lx_bank == (b == 1)), .lx_row_i(lx_word[RowBits-1:0]), .lx_lanes_i(lx_lanes),
      .lx_wdata_i(lx_row),
      .we_o(lanes), .row_o(wrow), .wdata_o(wdata)
    );

    hd_ram #(.Width(32 * N), .Depth(Words / 2), .BeBits(32)) u_ram (
      .clk_i, .we_i(lanes), .waddr_i(wrow), .wdata_i(wdata),
      .re_i(mx_r || a_here || b_here || st_here),
      .raddr_i(mx_r   ? mx_i.addr[RowBits-1:0] :
               a_here ? vxa_i.addr[RowBits-1:0] :
               b_here ? vxb_i.addr[RowBits-1:0] : st_word[RowBits-1:0]),
      .rdata_o(rdata[32 * N * b +: 32 * N])
    );
  end

  // Second cycle of a read: choose the bank.
  logic             mx_q, a_q, b_q, st_q, mx_bank_q, a_bank_q, b_bank_q;
  logic [OffBits:0] st_sel_q;  // byte in `rdata`

  always_ff @(posedge clk_i) begin
    mx_q      <= rst_ni && mx_i.req;
    a_q       <= rst_ni && vxa_gnt;
    b_q       <= rst_ni && vxb_gnt;
    mx_bank_q <= mx_rbank;
    a_bank_q  <= a_bank;
    b_bank_q  <= b_bank;
    st_q      <= rst_ni && st_gnt_o;
    st_sel_q  <= {st_bank, st_i.addr[OffBits-1:0] & ChunkMask};
    if (st_q) st_rdata_o <= (8 * AxiBytes)'(rdata[{st_sel_q, 3'd0} +: 8 * Chunk]);
    if (mx_q) mx_rdata_o <= mx_bank_q ? rdata[64*N-1:32*N] : rdata[32*N-1:0];
    if (a_q) vxa_rdata_o <= a_bank_q ? rdata[64*N-1:32*N] : rdata[32*N-1:0];
    if (b_q) vxb_rdata_o <= b_bank_q ? rdata[64*N-1:32*N] : rdata[32*N-1:0];
  end
endmodule
