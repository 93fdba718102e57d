// hd_top with a register before every input but the clock: what Verilator's model is made of.
//
// What hangs on inputs is evaluated by Verilator in each evaluation, of which a cycle has two. Behind
// a register it is evaluated once, with all other registers.
//
// Guarantees: hd_top sees the inputs that stood here at the last rising edge.
// Latency: a cycle for inputs, none for outputs.
// Throughput: that of hd_top.
// Stalls: none is added.
module hd_sim (
  input  logic                 ap_clk,
  input  logic                 ap_rst_n,
  output logic                 interrupt,

  // Control
  input  logic                 s_axi_control_awvalid,
  output logic                 s_axi_control_awready,
  input  logic [11:0]          s_axi_control_awaddr,
  input  logic                 s_axi_control_wvalid,
  output logic                 s_axi_control_wready,
  input  logic [31:0]          s_axi_control_wdata,
  input  logic [3:0]           s_axi_control_wstrb,
  output logic                 s_axi_control_bvalid,
  input  logic                 s_axi_control_bready,
  output logic [1:0]           s_axi_control_bresp,
  input  logic                 s_axi_control_arvalid,
  output logic                 s_axi_control_arready,
  input  logic [11:0]          s_axi_control_araddr,
  output logic                 s_axi_control_rvalid,
  input  logic                 s_axi_control_rready,
  output logic [31:0]          s_axi_control_rdata,
  output logic [1:0]           s_axi_control_rresp,

  // Memory
  output logic                 m_axi_gmem_arvalid,
  input  logic                 m_axi_gmem_arready,
  output logic [63:0]          m_axi_gmem_araddr,
  output logic [7:0]           m_axi_gmem_arlen,
  output logic [2:0]           m_axi_gmem_arsize,
  output logic [1:0]           m_axi_gmem_arburst,
  output logic [1:0]           m_axi_gmem_arid,
  input  logic                 m_axi_gmem_rvalid,
  output logic                 m_axi_gmem_rready,
  input  logic [hd_cfg_pkg::AxiBits-1:0]   m_axi_gmem_rdata,
  input  logic [1:0]           m_axi_gmem_rresp,
  input  logic                 m_axi_gmem_rlast,
  input  logic [1:0]           m_axi_gmem_rid,
  output logic                 m_axi_gmem_awvalid,
  input  logic                 m_axi_gmem_awready,
  output logic [63:0]          m_axi_gmem_awaddr,
  output logic [7:0]           m_axi_gmem_awlen,
  output logic [2:0]           m_axi_gmem_awsize,
  output logic [1:0]           m_axi_gmem_awburst,
  output logic [1:0]           m_axi_gmem_awid,
  output logic                 m_axi_gmem_wvalid,
  input  logic                 m_axi_gmem_wready,
  output logic [hd_cfg_pkg::AxiBits-1:0]   m_axi_gmem_wdata,
  output logic [hd_cfg_pkg::AxiBits/8-1:0] m_axi_gmem_wstrb,
  output logic                 m_axi_gmem_wlast,
  input  logic                 m_axi_gmem_bvalid,
  output logic                 m_axi_gmem_bready,
  input  logic [1:0]           m_axi_gmem_bresp,
  input  logic [1:0]           m_axi_gmem_bid
);
  logic                           ap_rst_n_q;
  logic                           s_axi_control_awvalid_q;
  logic [11:0]                    s_axi_control_awaddr_q;
  logic                           s_axi_control_wvalid_q;
  logic [31:0]                    s_axi_control_wdata_q;
  logic [3:0]                     s_axi_control_wstrb_q;
  logic                           s_axi_control_bready_q;
  logic                           s_axi_control_arvalid_q;
  logic [11:0]                    s_axi_control_araddr_q;
  logic                           s_axi_control_rready_q;
  logic                           m_axi_gmem_arready_q;
  logic                           m_axi_gmem_rvalid_q;
  logic [hd_cfg_pkg::AxiBits-1:0] m_axi_gmem_rdata_q;
  logic [1:0]                     m_axi_gmem_rresp_q;
  logic                           m_axi_gmem_rlast_q;
  logic [1:0]                     m_axi_gmem_rid_q;
  logic                           m_axi_gmem_awready_q;
  logic                           m_axi_gmem_wready_q;
  logic                           m_axi_gmem_bvalid_q;
  logic [1:0]                     m_axi_gmem_bresp_q;
  logic [1:0]                     m_axi_gmem_bid_q;

  always_ff @(posedge ap_clk) begin
    ap_rst_n_q              <= ap_rst_n;
    s_axi_control_awvalid_q <= s_axi_control_awvalid;
    s_axi_control_awaddr_q  <= s_axi_control_awaddr;
    s_axi_control_wvalid_q  <= s_axi_control_wvalid;
    s_axi_control_wdata_q   <= s_axi_control_wdata;
    s_axi_control_wstrb_q   <= s_axi_control_wstrb;
    s_axi_control_bready_q  <= s_axi_control_bready;
    s_axi_control_arvalid_q <= s_axi_control_arvalid;
    s_axi_control_araddr_q  <= s_axi_control_araddr;
    s_axi_control_rready_q  <= s_axi_control_rready;
    m_axi_gmem_arready_q    <= m_axi_gmem_arready;
    m_axi_gmem_rvalid_q     <= m_axi_gmem_rvalid;
    m_axi_gmem_rdata_q      <= m_axi_gmem_rdata;
    m_axi_gmem_rresp_q      <= m_axi_gmem_rresp;
    m_axi_gmem_rlast_q      <= m_axi_gmem_rlast;
    m_axi_gmem_rid_q        <= m_axi_gmem_rid;
    m_axi_gmem_awready_q    <= m_axi_gmem_awready;
    m_axi_gmem_wready_q     <= m_axi_gmem_wready;
    m_axi_gmem_bvalid_q     <= m_axi_gmem_bvalid;
    m_axi_gmem_bresp_q      <= m_axi_gmem_bresp;
    m_axi_gmem_bid_q        <= m_axi_gmem_bid;
  end

  hd_top hd_top (
    .ap_clk, .ap_rst_n(ap_rst_n_q), .interrupt, .s_axi_control_awvalid(s_axi_control_awvalid_q),
    .s_axi_control_awready, .s_axi_control_awaddr(s_axi_control_awaddr_q),
    .s_axi_control_wvalid(s_axi_control_wvalid_q), .s_axi_control_wready,
    .s_axi_control_wdata(s_axi_control_wdata_q), .s_axi_control_wstrb(s_axi_control_wstrb_q),
    .s_axi_control_bvalid, .s_axi_control_bready(s_axi_control_bready_q), .s_axi_control_bresp,
    .s_axi_control_arvalid(s_axi_control_arvalid_q), .s_axi_control_arready,
    .s_axi_control_araddr(s_axi_control_araddr_q), .s_axi_control_rvalid,
    .s_axi_control_rready(s_axi_control_rready_q), .s_axi_control_rdata, .s_axi_control_rresp,
    .m_axi_gmem_arvalid, .m_axi_gmem_arready(m_axi_gmem_arready_q), .m_axi_gmem_araddr,
    .m_axi_gmem_arlen, .m_axi_gmem_arsize, .m_axi_gmem_arburst, .m_axi_gmem_arid,
    .m_axi_gmem_rvalid(m_axi_gmem_rvalid_q), .m_axi_gmem_rready,
    .m_axi_gmem_rdata(m_axi_gmem_rdata_q), .m_axi_gmem_rresp(m_axi_gmem_rresp_q),
    .m_axi_gmem_rlast(m_axi_gmem_rlast_q), .m_axi_gmem_rid(m_axi_gmem_rid_q), .m_axi_gmem_awvalid,
    .m_axi_gmem_awready(m_axi_gmem_awready_q), .m_axi_gmem_awaddr, .m_axi_gmem_awlen,
    .m_axi_gmem_awsize, .m_axi_gmem_awburst, .m_axi_gmem_awid, .m_axi_gmem_wvalid,
    .m_axi_gmem_wready(m_axi_gmem_wready_q), .m_axi_gmem_wdata, .m_axi_gmem_wstrb,
    .m_axi_gmem_wlast, .m_axi_gmem_bvalid(m_axi_gmem_bvalid_q), .m_axi_gmem_bready,
    .m_axi_gmem_bresp(m_axi_gmem_bresp_q), .m_axi_gmem_bid(m_axi_gmem_bid_q)
  );
endmodule
