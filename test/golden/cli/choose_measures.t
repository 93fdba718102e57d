# RUN: rm -f build/choose_m.db && heddle bench choose test/models/digits --db build/choose_m.db --devices iss --machine tiny --batch 1
# RUN: heddle choose test/models/digits --db build/choose_m.db --devices iss --machine tiny,base --batch 1 --measure 0 | sed 's/int8 .* measured/int8 measured/; s/int8 .* 1 runs, a factor of 1.*/int8 by the model/' | tail -2
# RUN: heddle choose test/models/digits --db build/choose_m.db --devices iss --machine tiny,base --batch 1 | sed 's/int8 .* measured/int8 measured/' | tail -2
# RUN: heddle choose test/models/digits --db build/choose_m.db --devices iss --machine base --batch 1 --measure 0 | sed 's/int8 .* measured/int8 measured/' | tail -1; e=$?; rm -f build/choose_m.db; exit $e
#= no network was measured in 3 ways, so there is nothing to test
#= --device iss --machine base  int8 by the model
#= --device iss --machine tiny  int8 measured
#= --device iss --machine base  int8 measured
#= --device iss --machine tiny  int8 measured
#= --device iss --machine base  int8 measured
