# RUN: heddle opt --stage ops --ops test/golden/stages/bad/short.ops --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/short.ops: 17 operations of step 0, want 18 as its line says; is the text whole?
