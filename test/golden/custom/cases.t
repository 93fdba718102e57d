# RUN: heddle test test/golden/custom/cases --device golden | cut -d: -f1
# RUN: heddle test test/golden/custom/cases --device cpu | cut -d: -f1
# RUN: heddle test test/golden/custom/cases --device iss --machine tiny | cut -d: -f1
#= ok   test/golden/custom/cases/correlation/test_data_set_0
#= ok   test/golden/custom/cases/levels/test_data_set_0
#= ok   test/golden/custom/cases/product/test_data_set_0
#= 3 passed, 0 failed, 0 skipped
#= ok   test/golden/custom/cases/correlation/test_data_set_0
#= ok   test/golden/custom/cases/levels/test_data_set_0
#= ok   test/golden/custom/cases/product/test_data_set_0
#= 3 passed, 0 failed, 0 skipped
#= ok   test/golden/custom/cases/correlation/test_data_set_0
#= ok   test/golden/custom/cases/levels/test_data_set_0
#= ok   test/golden/custom/cases/product/test_data_set_0
#= 3 passed, 0 failed, 0 skipped
