# RUN: heddle test test/golden/import/cases/half --device golden --list %s
# EXIT: 1
cases/half on golden it passes
#= FAIL test/golden/import/cases/half/test_data_set_0: it is in the list of those left out, and passes; take it out there
#= 0 passed, 1 failed, 0 skipped
