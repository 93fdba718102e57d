# RUN: rm -f build/choose.db && heddle bench choose test/models/digits --db build/choose.db --devices cpu,iss --threads 1 --batch 1
# RUN: heddle choose test/models/digits --db build/choose.db --devices iss --machine base,tiny --batch 1 | sed 's/  *[0-9.]*  *[0-9.e+]*  measured/ measured/; s/sample  *a second/sample a second/'
# RUN: heddle choose test/models/digits --db build/choose.db --devices cpu --threads 1 --only float; e=$?; rm -f build/choose.db; exit $e
# EXIT: 1
#= no network was measured in 3 ways, so there is nothing to test
#= digits@98f819ba: --device iss --machine base, int8, 1 a run
#=
#= options                      precision  samples  ms a sample a second  by
#= --device iss --machine base  int8             1 measured
#= --device iss --machine tiny  int8             1 measured
#= heddle choose: digits@98f819ba: has integers already, so want --only int8
