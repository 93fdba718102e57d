# RUN: heddle graph test/models/digits --stage plan -o - | grep -v tooltip= | grep -v legend
# RUN: heddle graph test/models/digits --color dtype --select 'qadd' -o - | sed 's#, tooltip.*##' | grep -E 'res_add|l[0-9] '
#= digraph network {
#=   label="digits"; labelloc=t; fontname="DejaVu Sans";
#=   node [shape=box, style="filled,rounded", color="#8a93a3", fontsize=10, fontname="DejaVu Sans", margin="0.10,0.04"];
#=   edge [color="#5d6675", arrowsize=0.6]; ranksep=0.28; nodesep=0.2;
#=   n0 -> n1;
#=   n1 -> n2;
#=   n1 -> n4;
#=   n2 -> n3;
#=   n3 -> n4;
#=   n4 -> n5;
#=   n5 -> n6;
#=   n6 -> n8;
#=   n8 -> n9;
#=   i0 [shape=ellipse, style=solid, label="image"];
#=   i0 -> n0;
#=   o0 [shape=ellipse, style=solid, label="logits"];
#=   n9 -> o0;
#=     l0 [label="host", fillcolor="#cfe3f7"];
#=     l1 [label="machine", fillcolor="#f8d9b6"];
#=   }
#= }
#=     n4 [label="res_add\nqadd  i8[1,16,8,8]", fillcolor="#cfe3f7", color="#d01c1c", penwidth=3
#=     l0 [label="i8", fillcolor="#cfe3f7"];
#=     l1 [label="f32", fillcolor="#f8d9b6"];
