// Activation memory: byte addressed, Banks contiguous ranges, rows of RowBytes.
//
// Guarantees: per bank and cycle one read is granted, priority MX > VX.A > VX.B > ST, and one
// write, VX > LX, in the cycle of the request. A write is visible to reads granted in the next
// cycle. Addresses lie inside the memory (the engines check them).
// Latency: read data 2 cycles after the grant, held until the data of the port's next grant.
// Throughput: a word or chunk per port and cycle.
// Stalls: the bank is taken by a port before it; the request holds until its grant.
module hd_xm (
  input  logic                clk_i, rst_ni,

  // MX read, address in words of K bytes
  input  hd_bus_pkg::word_t   mx_i,
  output logic                mx_gnt_o,
  output hd_cfg_pkg::x_t      mx_rdata_o,

  // VX reads and write, addresses in vectors of N bytes
  input  hd_bus_pkg::word_t   vxa_i, vxb_i, vxw_i,
  input  logic                vx_go_i, vx_end_i,  // see hd_vx
  input  logic [2:0]          vx_asks_i,
  output logic                vxa_shared_o, vxb_shared_o, vx_same_o,  // see hd_vx
  output logic                vxw_gnt_o,
  output hd_cfg_pkg::vec_t    vxa_rdata_o, vxb_rdata_o,
  input  hd_cfg_pkg::vec_t    vxw_wdata_i,

  // LX write and ST read, byte addresses of AxiBytes-aligned chunks
  input  hd_bus_pkg::chunk_t  lx_i,  // its am is hd_am's
  input  hd_cfg_pkg::data_t   lx_wdata_i,
  input  hd_cfg_pkg::strobe_t lx_be_i,
  output logic                lx_gnt_o,
  input  hd_bus_pkg::chunk_t  st_i,
  output logic                st_gnt_o,
  output hd_cfg_pkg::data_t   st_rdata_o
);
  localparam int unsigned K        = hd_cfg_pkg::K;
  localparam int unsigned N        = hd_cfg_pkg::N;
  localparam int unsigned AxiBytes = hd_cfg_pkg::AxiBytes;
  localparam int unsigned RowBytes = hd_cfg_pkg::XmRowBytes;
  localparam int unsigned Bytes    = hd_cfg_pkg::XmBytes;
  localparam int unsigned Banks    = hd_cfg_pkg::XmBanks;
  localparam int unsigned Rows     = Bytes / Banks / RowBytes;
  localparam int unsigned OffBits  = $clog2(RowBytes);
  localparam int unsigned RowBits  = $clog2(Rows);
  localparam int unsigned BankLsb  = OffBits + RowBits;
  localparam int unsigned BankBits = $clog2(Banks);
  // Chunks are aligned: said here so that no byte shifter is made for them.
  localparam logic [OffBits-1:0] ChunkMask = OffBits'(~(AxiBytes - 1));

  // Byte address of every port.
  logic [27:0] mx_at, a_at, b_at, w_at;
  assign mx_at = 28'(mx_i.addr) << $clog2(K);
  assign a_at  = 28'(vxa_i.addr) << $clog2(N);
  assign b_at  = 28'(vxb_i.addr) << $clog2(N);
  assign w_at  = 28'(vxw_i.addr) << $clog2(N);

  logic [BankBits-1:0] mx_bank, a_bank, b_bank, st_bank, w_bank, lx_bank;
  assign mx_bank = mx_at[BankLsb +: BankBits];
  assign a_bank  = a_at[BankLsb +: BankBits];
  assign b_bank  = b_at[BankLsb +: BankBits];
  assign st_bank = st_i.addr[BankLsb +: BankBits];
  assign w_bank  = w_at[BankLsb +: BankBits];
  assign lx_bank = lx_i.addr[BankLsb +: BankBits];

  assign mx_gnt_o  = mx_i.req;
  logic vxa_gnt, vxb_gnt;
  assign vxa_shared_o = mx_bank == a_bank;
  assign vxb_shared_o = mx_bank == b_bank;
  assign vx_same_o    = a_bank == b_bank;
  assign vxa_gnt      = vxa_i.req && !(mx_i.req && vxa_shared_o);
  assign vxb_gnt      = vxb_i.req && !(mx_i.req && vxb_shared_o) && !(vxa_i.req && vx_same_o);
  assign st_gnt_o  = st_i.xm && !(mx_i.req && mx_bank == st_bank) &&
                     !(vx_go_i && ((vx_asks_i[0] && a_bank == st_bank) || (vx_asks_i[1] && b_bank == st_bank) ||
                                   (vx_end_i && vx_asks_i[2] && b_bank == st_bank)));
  assign vxw_gnt_o = vxw_i.req;
  assign lx_gnt_o  = lx_i.xm && !(vxw_i.req && w_bank == lx_bank);

  // Write data in row form: the data repeats along the row, the byte enables choose.
  logic [RowBytes-1:0]   w_be, lx_be;
  logic [8*RowBytes-1:0] w_row, lx_row;
  assign w_row  = {RowBytes / N{vxw_wdata_i}};
  assign lx_row = {RowBytes / AxiBytes{lx_wdata_i}};
  assign w_be   = RowBytes'({N{1'b1}}) << w_at[OffBits-1:0];
  assign lx_be  = RowBytes'(lx_be_i) << (lx_i.addr[OffBits-1:0] & ChunkMask);

  logic [8*RowBytes*Banks-1:0] rdata;

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic                mx_here, a_here, b_here, st_here, w_here, lx_here;
    logic [RowBits-1:0]  raddr, waddr;
    logic [RowBytes-1:0] be;

    assign mx_here = mx_gnt_o && mx_bank == BankBits'(b);
    assign a_here  = vxa_gnt && a_bank == BankBits'(b);
    assign b_here  = vxb_gnt && b_bank == BankBits'(b);
    assign st_here = st_gnt_o && st_bank == BankBits'(b);
    assign w_here  = vxw_gnt_o && w_bank == BankBits'(b);
    assign lx_here = lx_gnt_o && lx_bank == BankBits'(b);
    assign raddr   = mx_here ? mx_at[OffBits +: RowBits] :
                     a_here  ? a_at[OffBits +: RowBits] :
                     b_here  ? b_at[OffBits +: RowBits] : st_i.addr[OffBits +: RowBits];
    assign waddr   = w_here ? w_at[OffBits +: RowBits] : lx_i.addr[OffBits +: RowBits];
    assign be      = w_here ? w_be : lx_here ? lx_be : '0;

    hd_ram #(.Width(8 * RowBytes), .Depth(Rows), .BeBits(8)) u_ram (
      .clk_i,
      .we_i(be),
      .re_i(mx_here || a_here || b_here || st_here), .raddr_i(raddr),
      .rdata_o(rdata[8 * RowBytes * b +: 8 * RowBytes]),
      .waddr_i(waddr), .wdata_i(w_here ? w_row : lx_row)
    );
  end

  // Second cycle of a read: choose bank and part of the row. The bank is one bit of many: a choice of 8 in
  // 3 LUTs, where a number takes 5.
  logic                mx_q, a_q, b_q, st_q;
  logic [Banks-1:0]    mx_bank_q, a_bank_q, b_bank_q, st_bank_q;
  logic [OffBits-1:0]  mx_off_q, a_off_q, b_off_q, st_off_q;  // byte in the row

  function automatic logic [8*RowBytes-1:0] row_of(input logic [Banks-1:0] bank);
    row_of = '0;
    for (int unsigned i = 0; i < Banks; i++)
      row_of = row_of | ({8 * RowBytes{bank[i]}} & rdata[8 * RowBytes * i +: 8 * RowBytes]);
  endfunction

  always_ff @(posedge clk_i) begin
    mx_q      <= rst_ni && mx_gnt_o;
    a_q       <= rst_ni && vxa_gnt;
    b_q       <= rst_ni && vxb_gnt;
    st_q      <= rst_ni && st_gnt_o;
    mx_bank_q <= Banks'(1) << mx_bank;
    a_bank_q  <= Banks'(1) << a_bank;
    b_bank_q  <= Banks'(1) << b_bank;
    st_bank_q <= Banks'(1) << st_bank;
    mx_off_q  <= mx_at[OffBits-1:0];
    a_off_q   <= a_at[OffBits-1:0];
    b_off_q   <= b_at[OffBits-1:0];
    st_off_q  <= st_i.addr[OffBits-1:0] & ChunkMask;
    if (mx_q) mx_rdata_o <= (8 * K)'(row_of(mx_bank_q) >> {mx_off_q, 3'd0});
    if (a_q) vxa_rdata_o <= (8 * N)'(row_of(a_bank_q) >> {a_off_q, 3'd0});
    if (b_q) vxb_rdata_o <= (8 * N)'(row_of(b_bank_q) >> {b_off_q, 3'd0});
    if (st_q) st_rdata_o <= (8 * AxiBytes)'(row_of(st_bank_q) >> {st_off_q, 3'd0});
  end
endmodule
