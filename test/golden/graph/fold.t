# RUN: heddle graph test/models/digits --stage import --fold yes -o - | grep -E 'times|dashed'
#=   subgraph cluster_0 { label="2 times"; style="rounded,bold";
#=   n6 -> n1 [style=dashed, constraint=false];
