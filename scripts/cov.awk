# Sums the output of `gcov -n`: one line per source file of ours, then the total. Exit 1 when that is below -v floor=PERCENT.
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
    if (!all) { print "cov.awk: no line of ours was counted"; exit 1 }
    printf "%6.1f %%  %5d lines  total, at least %g %%\n", 100 * all_hit / all, all, floor
    if (100 * all_hit / all < floor) { print "cov.awk: less than " floor " % of the lines of C"; exit 1 }
}
