// Properties of hd_bytes: no byte is lost, made twice, changed or overtaken; what it shows is there.
// mutant: s/assign push    = valid_i && ready_o/assign push    = valid_i/
// mutant: s/at_q + 4'(drop_i)/at_q + 4'(drop_i != 3'd0)/
// mutant: s/3'd4 - 3'(at_q\[1:0\]) : 3'd5/3'd4 : 3'd5/
// mutant: s/at_q\[3:2\] + 2'd1\], mem/at_q[3:2]], mem/
// mutant: s/gone    = at_d\[3:2\] - at_q\[3:2\]/gone    = 2'(at_d[3:2] != at_q[3:2])/

  `DUTY(Drops, drop_i <= have_o)

  // Bytes inside, counted at the ports.
  logic [4:0] inside_q;
  always_ff @(posedge clk_i)
    if (!rst_ni) inside_q <= 5'd0;
    else inside_q <= inside_q + (valid_i && ready_o ? 5'd4 : 5'd0) - 5'(drop_i);
  `ASSERT(Inside, inside_q <= 5'd16 && inside_q + 5'(at_q[1:0]) == {words_q, 2'd0})
  `ASSERT(Have, have_o == (inside_q > 5'd5 ? 3'd5 : 3'(inside_q)))
  `ASSERT(ReadyUnlessFull, ready_o == (words_q != 3'd4))

  // One byte, chosen freely among those that enter, followed to the place where it is shown.
  (* anyseq *) logic       pick;
  (* anyseq *) logic [1:0] which;
  logic       seen_q;
  logic [4:0] ahead_q;  // bytes that leave before it
  logic [3:0] place;
  logic [7:0] byte_q;
  assign place = at_q + 4'(ahead_q);
  always_ff @(posedge clk_i)
    if (!rst_ni) seen_q <= 1'b0;
    else if (!seen_q) begin
      seen_q  <= pick && valid_i && ready_o;
      ahead_q <= inside_q - 5'(drop_i) + 5'(which);
      byte_q  <= data_i[{which, 3'd0} +: 8];
    end else begin
      seen_q  <= ahead_q >= 5'(drop_i);
      ahead_q <= ahead_q - 5'(drop_i);
    end
  `ASSERT(Kept, !seen_q || (ahead_q < inside_q && mem[place[3:2]][{place[1:0], 3'd0} +: 8] == byte_q))
  `ASSERT(Shown, !seen_q || ahead_q > 5'd4 || bytes_o[{ahead_q[2:0], 3'd0} +: 8] == byte_q)
