# A member that a layer does not have.
# RUN: heddle opt --stage plan --plan test/golden/stages/bad/member.plan --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/member.plan:3: got 'ask_bands=2', want a member: no_room=, own_ring=, alone=, finer=, more_slots=, chain_th=, roll_th=, ask_tiles=, ask_nb=, ask_order=, ring_bytes=, ring_in=, ring_vx=, th=, tw=, nb=, cwb=, split_k=, transposed=, chunk_outer=, wave=, weights_stay=, chain_first=, chain_last=, deep=, beside=, rnn.rows=, rnn.ahead=, rnn.out_steps=, rnn.w_stay=, rnn.pm_stay=, rnn.apart=, rnn.r_stay=, rnn.wm_ring=
