// What the binary32 cells share.
package hd_f32_pkg;
  // Leading zeros of v, 31 of zero. Which four bits hold the first one is known before where it is there.
  function automatic logic [4:0] zeros(input logic [31:0] v);
    // Of four bits each, the highest first: any, neither of two, the one behind.
    logic [6:0] some;
    logic [7:0] high, odd;
    for (int unsigned i = 0; i < 7; i++) some[i] = v[28 - 4 * i +: 4] != 4'd0;
    for (int unsigned i = 0; i < 8; i++) begin
      high[i] = v[30 - 4 * i +: 2] == 2'd0;
      odd[i]  = high[i] ? !v[29 - 4 * i] : !v[31 - 4 * i];
    end
    zeros[4] = some[3:0] == 4'd0;
    zeros[3] = zeros[4] ? some[5:4] == 2'd0 : some[1:0] == 2'd0;
    zeros[2] = !(some[0] || (!some[1] && (some[2] || (!some[3] && (some[4] || (!some[5] && some[6]))))));
    zeros[1] = high[zeros[4:2]];
    zeros[0] = odd[zeros[4:2]];
  endfunction
endpackage
