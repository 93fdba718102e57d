// Properties of hd_fifo: no word is lost, made twice, changed or overtaken; no overflow or underflow.
// mutant: s/assign push    = valid_i && ready_o/assign push    = valid_i/
// mutant: s/if (pop) rd_q <= rd_q + 1'b1/if (pop) rd_q <= rd_q/

  // Words inside, counted at the ports.
  logic [PtrBits:0] inside_q;
  always_ff @(posedge clk_i)
    if (!rst_ni || clear_i) inside_q <= '0;
    else inside_q <= inside_q + (PtrBits + 1)'(valid_i && ready_o)
                     - (PtrBits + 1)'(valid_o && ready_i);
  `ASSERT(Inside, inside_q == count_o)
  `ASSERT(ValidWhenAny, valid_o == (inside_q != '0))
  `ASSERT(ReadyUnlessFull, ready_o == (inside_q != (PtrBits + 1)'(Depth)))

  // One word, chosen freely among those that enter, followed to the exit.
  (* anyseq *) logic pick;
  logic               seen_q;
  logic [PtrBits:0]   ahead_q;  // words that leave before it
  logic [PtrBits-1:0] place;
  logic [Width-1:0]   word_q;
  assign place = rd_q + PtrBits'(ahead_q);
  always_ff @(posedge clk_i)
    if (!rst_ni || clear_i) seen_q <= 1'b0;
    else if (!seen_q) begin
      seen_q  <= pick && valid_i && ready_o;
      ahead_q <= inside_q - (PtrBits + 1)'(valid_o && ready_i);
      word_q  <= data_i;
    end else if (valid_o && ready_i) begin
      seen_q  <= ahead_q != '0;
      ahead_q <= ahead_q - 1'b1;
    end
  `ASSERT(Kept, !seen_q || (ahead_q < inside_q && mem[place] == word_q))
  `ASSERT(InOrder, !(seen_q && ahead_q == '0) || (valid_o && data_o == word_q))
