# RUN: heddle run test/models/digits --device -oProxyCommand=x/iss
# EXIT: 1
#= heddle run: host '-oProxyCommand=x': want a name of letters, digits and ._-@:%+ that does not begin with -, or the path of a socket that begins with / or ./
