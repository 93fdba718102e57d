# RUN: heddle opt --stage ops --ops test/golden/stages/bad/field.ops --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/field.ops:2: got '9999999', want a whole number, 0 to 65535
