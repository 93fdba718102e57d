// Top of the packaged kernel, in Verilog 2001: Vivado takes no SystemVerilog top (UG1118). Wiring, and
// the AXI signals that hd_top leaves to the interconnect.
//
// AxCACHE 0011: modifiable and bufferable, so that the interconnect may pack and pipeline. AxPROT
// 000: data, secure, unprivileged. No locks, no regions, one quality of service.
// C_DEBUG = 1 marks the handshakes and the interrupt for an ILA (mark_debug; Vivado's "set up debug"
// finds them by name). With 0 the marked registers are not there.
`default_nettype none

module hd_kernel #(
  parameter C_M_AXI_GMEM_DATA_WIDTH = 128,  // the machine's axi_bits, set when the kernel is packaged
  parameter C_DEBUG = 0
) (
  input  wire        ap_clk,
  input  wire        ap_rst_n,
  output wire        interrupt,

  input  wire        s_axi_control_awvalid,
  output wire        s_axi_control_awready,
  input  wire [11:0] s_axi_control_awaddr,
  input  wire        s_axi_control_wvalid,
  output wire        s_axi_control_wready,
  input  wire [31:0] s_axi_control_wdata,
  input  wire [3:0]  s_axi_control_wstrb,
  output wire        s_axi_control_bvalid,
  input  wire        s_axi_control_bready,
  output wire [1:0]  s_axi_control_bresp,
  input  wire        s_axi_control_arvalid,
  output wire        s_axi_control_arready,
  input  wire [11:0] s_axi_control_araddr,
  output wire        s_axi_control_rvalid,
  input  wire        s_axi_control_rready,
  output wire [31:0] s_axi_control_rdata,
  output wire [1:0]  s_axi_control_rresp,

  output wire        m_axi_gmem_arvalid,
  input  wire        m_axi_gmem_arready,
  output wire [63:0] m_axi_gmem_araddr,
  output wire [7:0]  m_axi_gmem_arlen,
  output wire [2:0]  m_axi_gmem_arsize,
  output wire [1:0]  m_axi_gmem_arburst,
  output wire [1:0]  m_axi_gmem_arid,
  output wire [0:0]  m_axi_gmem_arlock,
  output wire [3:0]  m_axi_gmem_arcache,
  output wire [2:0]  m_axi_gmem_arprot,
  output wire [3:0]  m_axi_gmem_arqos,
  input  wire        m_axi_gmem_rvalid,
  output wire        m_axi_gmem_rready,
  input  wire [C_M_AXI_GMEM_DATA_WIDTH-1:0] m_axi_gmem_rdata,
  input  wire [1:0]  m_axi_gmem_rresp,
  input  wire        m_axi_gmem_rlast,
  input  wire [1:0]  m_axi_gmem_rid,
  output wire        m_axi_gmem_awvalid,
  input  wire        m_axi_gmem_awready,
  output wire [63:0] m_axi_gmem_awaddr,
  output wire [7:0]  m_axi_gmem_awlen,
  output wire [2:0]  m_axi_gmem_awsize,
  output wire [1:0]  m_axi_gmem_awburst,
  output wire [1:0]  m_axi_gmem_awid,
  output wire [0:0]  m_axi_gmem_awlock,
  output wire [3:0]  m_axi_gmem_awcache,
  output wire [2:0]  m_axi_gmem_awprot,
  output wire [3:0]  m_axi_gmem_awqos,
  output wire        m_axi_gmem_wvalid,
  input  wire        m_axi_gmem_wready,
  output wire [C_M_AXI_GMEM_DATA_WIDTH-1:0] m_axi_gmem_wdata,
  output wire [C_M_AXI_GMEM_DATA_WIDTH/8-1:0] m_axi_gmem_wstrb,
  output wire        m_axi_gmem_wlast,
  input  wire        m_axi_gmem_bvalid,
  output wire        m_axi_gmem_bready,
  input  wire [1:0]  m_axi_gmem_bresp,
  input  wire [1:0]  m_axi_gmem_bid
);
  assign m_axi_gmem_arlock  = 1'b0;
  assign m_axi_gmem_arcache = 4'b0011;
  assign m_axi_gmem_arprot  = 3'b000;
  assign m_axi_gmem_arqos   = 4'b0000;
  assign m_axi_gmem_awlock  = 1'b0;
  assign m_axi_gmem_awcache = 4'b0011;
  assign m_axi_gmem_awprot  = 3'b000;
  assign m_axi_gmem_awqos   = 4'b0000;

  hd_top u_top (
    .ap_clk(ap_clk), .ap_rst_n(ap_rst_n), .interrupt(interrupt),
    .s_axi_control_awvalid(s_axi_control_awvalid), .s_axi_control_awready(s_axi_control_awready),
    .s_axi_control_awaddr(s_axi_control_awaddr), .s_axi_control_wvalid(s_axi_control_wvalid),
    .s_axi_control_wready(s_axi_control_wready), .s_axi_control_wdata(s_axi_control_wdata),
    .s_axi_control_wstrb(s_axi_control_wstrb), .s_axi_control_bvalid(s_axi_control_bvalid),
    .s_axi_control_bready(s_axi_control_bready), .s_axi_control_bresp(s_axi_control_bresp),
    .s_axi_control_arvalid(s_axi_control_arvalid), .s_axi_control_arready(s_axi_control_arready),
    .s_axi_control_araddr(s_axi_control_araddr), .s_axi_control_rvalid(s_axi_control_rvalid),
    .s_axi_control_rready(s_axi_control_rready), .s_axi_control_rdata(s_axi_control_rdata),
    .s_axi_control_rresp(s_axi_control_rresp),
    .m_axi_gmem_arvalid(m_axi_gmem_arvalid), .m_axi_gmem_arready(m_axi_gmem_arready),
    .m_axi_gmem_araddr(m_axi_gmem_araddr), .m_axi_gmem_arlen(m_axi_gmem_arlen),
    .m_axi_gmem_arsize(m_axi_gmem_arsize), .m_axi_gmem_arburst(m_axi_gmem_arburst),
    .m_axi_gmem_arid(m_axi_gmem_arid), .m_axi_gmem_rvalid(m_axi_gmem_rvalid),
    .m_axi_gmem_rready(m_axi_gmem_rready), .m_axi_gmem_rdata(m_axi_gmem_rdata),
    .m_axi_gmem_rresp(m_axi_gmem_rresp), .m_axi_gmem_rlast(m_axi_gmem_rlast),
    .m_axi_gmem_rid(m_axi_gmem_rid),
    .m_axi_gmem_awvalid(m_axi_gmem_awvalid), .m_axi_gmem_awready(m_axi_gmem_awready),
    .m_axi_gmem_awaddr(m_axi_gmem_awaddr), .m_axi_gmem_awlen(m_axi_gmem_awlen),
    .m_axi_gmem_awsize(m_axi_gmem_awsize), .m_axi_gmem_awburst(m_axi_gmem_awburst),
    .m_axi_gmem_awid(m_axi_gmem_awid), .m_axi_gmem_wvalid(m_axi_gmem_wvalid),
    .m_axi_gmem_wready(m_axi_gmem_wready), .m_axi_gmem_wdata(m_axi_gmem_wdata),
    .m_axi_gmem_wstrb(m_axi_gmem_wstrb), .m_axi_gmem_wlast(m_axi_gmem_wlast),
    .m_axi_gmem_bvalid(m_axi_gmem_bvalid), .m_axi_gmem_bready(m_axi_gmem_bready),
    .m_axi_gmem_bresp(m_axi_gmem_bresp), .m_axi_gmem_bid(m_axi_gmem_bid)
  );

  generate
    if (C_DEBUG != 0) begin : gen_debug
      (* mark_debug = "true" *) reg [4:0]  valid_q, ready_q;  // AR, R, AW, W, B
      (* mark_debug = "true" *) reg [63:0] araddr_q, awaddr_q;
      (* mark_debug = "true" *) reg [15:0] len_q;             // AR, AW
      (* mark_debug = "true" *) reg [3:0]  resp_q;            // R, B
      (* mark_debug = "true" *) reg [3:0]  control_q;         // AW, AR of AXI4-Lite, interrupt, reset
      always @(posedge ap_clk) begin
        valid_q   <= {m_axi_gmem_arvalid, m_axi_gmem_rvalid, m_axi_gmem_awvalid, m_axi_gmem_wvalid,
                      m_axi_gmem_bvalid};
        ready_q   <= {m_axi_gmem_arready, m_axi_gmem_rready, m_axi_gmem_awready, m_axi_gmem_wready,
                      m_axi_gmem_bready};
        araddr_q  <= m_axi_gmem_araddr;
        awaddr_q  <= m_axi_gmem_awaddr;
        len_q     <= {m_axi_gmem_arlen, m_axi_gmem_awlen};
        resp_q    <= {m_axi_gmem_rresp, m_axi_gmem_bresp};
        control_q <= {s_axi_control_awvalid, s_axi_control_arvalid, interrupt, ap_rst_n};
      end
    end
  endgenerate
endmodule

`default_nettype wire
