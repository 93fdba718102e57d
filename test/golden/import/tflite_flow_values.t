# RUN: heddle test test/golden/import/flow_cases --device golden
# RUN: heddle test test/golden/import/flow_cases --device cpu
# RUN: heddle test test/golden/import/flow_cases --device iss
#= ok   test/golden/import/flow_cases/flow/test_data_set_0: max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= ok   test/golden/import/flow_cases/flow/test_data_set_1: max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= 2 passed, 0 failed, 0 skipped
#= ok   test/golden/import/flow_cases/flow/test_data_set_0: max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= ok   test/golden/import/flow_cases/flow/test_data_set_1: max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= 2 passed, 0 failed, 0 skipped
#= ok   test/golden/import/flow_cases/flow/test_data_set_0: max|diff| 0, tolerance 8192 ulp, and 32 of the largest; 1 integer tensors bit-equal to golden
#= ok   test/golden/import/flow_cases/flow/test_data_set_1: max|diff| 0, tolerance 8192 ulp, and 32 of the largest; 1 integer tensors bit-equal to golden
#= 2 passed, 0 failed, 0 skipped
