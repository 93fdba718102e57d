# RUN: h=$(command -v heddle) && PATH=/nonexistent $h graph test/models/digits -o /tmp/never.svg
# EXIT: 1
#= heddle graph: /tmp/never.svg: there is no program 'dot' to draw it; install Graphviz (apt-get install graphviz), or write the text with -o FILE.dot
