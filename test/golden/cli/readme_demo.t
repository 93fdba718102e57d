# README shows what make demo prints: each of the network's layers is a line of it.
# RUN: heddle demo test/models/digits --device iss | grep -E '^(layer|[a-z0-9_]+ +q[a-z]+ |total|accuracy, golden)' | sed 's/device iss/device rtl/' | while IFS= read -r line; do grep -qxF -e "$line" README.md && echo there || echo "README.md lacks: $line"; done
#= there
#= there
#= there
#= there
#= there
#= there
#= there
#= there
#= there
#= there
