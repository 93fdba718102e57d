# Sums the output of `gcov -n`: one line per source file of ours, then the total.
/^File / { f = $2; gsub(/'/, "", f); next }
/^Lines executed:/ && f != "" && f !~ /^\// {
    split($0, p, /[:% ]+/)
    pct = p[3]; n = p[5]
    if (n > lines[f]) { lines[f] = n; hit[f] = n * pct / 100 }
    f = ""
}
END {
    for (f in lines) {
        printf "%6.1f %%  %5d lines  %s\n", 100 * hit[f] / lines[f], lines[f], f
        all += lines[f]; all_hit += hit[f]
    }
    if (all) printf "%6.1f %%  %5d lines  total\n", 100 * all_hit / all, all
}
