# RUN: heddle test test/golden/import/cases --device golden
#= ok   test/golden/import/cases/functions/test_data_set_0: max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= ok   test/golden/import/cases/half/test_data_set_0: max|diff| 0, tolerance 2 ulp, and 1 of the largest
#= ok   test/golden/import/cases/if_run_time/test_data_set_0: max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= ok   test/golden/import/cases/loop_growing/test_data_set_0: max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= ok   test/golden/import/cases/loop_open/test_data_set_0: max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= ok   test/golden/import/cases/nonzero/test_data_set_0: max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= ok   test/golden/import/cases/open_dims/test_data_set_0: max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= ok   test/golden/import/cases/qonnx/test_data_set_0: max|diff| 0, tolerance 0.5 (1 step), 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 0.5 (1 step), 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 0.25 (1 step), 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 0.25 (1 step), 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 0.5 (1 step), 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest; max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= ok   test/golden/import/cases/sequence/test_data_set_0: max|diff| 0, tolerance 8192 ulp, and 32 of the largest
#= 9 passed, 0 failed, 0 skipped
