// What the binary32 cells share.
package hd_f32_pkg;
  // Leading zeros of v, 31 of zero.
  function automatic logic [4:0] zeros(input logic [31:0] v);
    logic [15:0] v16;
    logic [7:0]  v8;
    logic [3:0]  v4;
    logic [4:0]  n;
    n[4] = v[31:16] == 16'd0;
    v16  = n[4] ? v[15:0] : v[31:16];
    n[3] = v16[15:8] == 8'd0;
    v8   = n[3] ? v16[7:0] : v16[15:8];
    n[2] = v8[7:4] == 4'd0;
    v4   = n[2] ? v8[3:0] : v8[7:4];
    n[1] = v4[3:2] == 2'd0;
    n[0] = !(n[1] ? v4[1] : v4[3]);
    zeros = n;
  endfunction
endpackage
