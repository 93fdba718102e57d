# RUN: heddle serve --stdio --mode 660
# EXIT: 2
#= heddle serve: --stdio: serves who started it; leave out --socket and --mode; see heddle serve --help
