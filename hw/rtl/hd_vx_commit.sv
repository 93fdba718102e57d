// Whether VX commits an iteration: the end of a path through MX and the grants of XM. It stands apart,
// so that what comes late passes one LUT, whatever the synthesis does with what is known before.
//
// Guarantees: commit_o and load_o as may_i says for the request that there is.
// Latency: none, combinational.
// Throughput: an iteration a cycle.
// Stalls: never.
module hd_vx_commit (
  input  logic [1:0] may_i,     // commit without and with a request of MX for XM
  input  logic       mx_xm_i,   // the request, late
  input  logic       run_i,     // an operation is in issue
  input  logic       last_i,    // the iteration is its last
  input  logic       takes_i,   // there is room for another operation

  output logic       commit_o,
  output logic       load_o,    // the operation in issue ends, or there is none
  output logic       ready_o    // for the next
);
  assign commit_o = may_i[mx_xm_i];
  assign load_o   = !run_i || (may_i[mx_xm_i] && last_i);
  assign ready_o  = takes_i && (!run_i || (may_i[mx_xm_i] && last_i));
endmodule
