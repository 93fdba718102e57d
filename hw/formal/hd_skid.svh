// Properties of hd_skid: no word is lost, made twice, changed or overtaken.
// mutant: s/if (!full_q) skid_q <= data_i/if (full_q) skid_q <= data_i/
// mutant: s/valid_d = full_q || valid_i/valid_d = valid_i/

  // Words inside, counted at the ports.
  logic [1:0] inside_q;
  always_ff @(posedge clk_i)
    if (!rst_ni) inside_q <= 2'd0;
    else inside_q <= inside_q + 2'(valid_i && ready_o) - 2'(valid_o && ready_i);
  `ASSERT(Inside, inside_q == 2'(valid_q) + 2'(full_q) && inside_q <= 2'd2)
  `ASSERT(OutFirst, !full_q || valid_q)
  `ASSERT(ValidWhenAny, valid_o == (inside_q != 2'd0))
  `ASSERT(ReadyUnlessFull, ready_o == (inside_q != 2'd2))

  // One word, chosen freely among those that enter, followed to the exit.
  (* anyseq *) logic pick;
  logic             seen_q, behind_q;
  logic [Width-1:0] word_q;
  always_ff @(posedge clk_i)
    if (!rst_ni) seen_q <= 1'b0;
    else if (!seen_q) begin
      seen_q   <= pick && valid_i && ready_o;
      behind_q <= valid_o && !ready_i;
      word_q   <= data_i;
    end else if (valid_o && ready_i) begin
      seen_q   <= behind_q;
      behind_q <= 1'b0;
    end
  `ASSERT(Kept, !seen_q || (behind_q ? full_q && skid_q == word_q : valid_o && data_o == word_q))
