# RUN: rm -f build/choose_none.db && heddle bench choose --db build/choose_none.db; heddle choose test/models/digits --db build/choose_none.db; e=$?; rm -f build/choose_none.db; exit $e
# EXIT: 1
#= no network was measured in 3 ways, so there is nothing to test
#= heddle choose: build/choose_none.db: no runs of these ways are known for this computer; heddle bench choose MODEL... --db FILE, bench tiny and bench deepbench measure some
