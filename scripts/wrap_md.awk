# Markdown on standard input, with lines of at most 100 columns on standard output. Prose and list
# items are wrapped. A row of a table that is too long says "below", and its last cell stands under
# the table as "name: text", by the name in backticks.

function show(line) {
    gsub(/\001/, " ", line)
    print line
}

# An operator stays with the word before it: at the beginning of a line it would be a list's mark.
function wrap(line, indent,    n, word, i, out) {
    gsub(/ \+ /, "\001+ ", line)
    gsub(/ \* /, "\001* ", line)
    gsub(/ - /, "\001- ", line)
    n = split(line, word, " ")
    out = word[1]
    for (i = 2; i <= n; i++)
        if (length(out) + 1 + length(word[i]) <= 100)
            out = out " " word[i]
        else {
            show(out)
            out = indent word[i]
        }
    show(out)
}

function row(line,    n, cell, i, short, name) {
    n = split(line, cell, / \| /)
    for (i = 1; i < n; i++) {
        short = short cell[i] " | "
        if (name == "" && cell[i] ~ /`/) name = cell[i]
    }
    sub(/^\| /, "", name)
    sub(/ \|$/, "", cell[n])
    gsub(/\\\|/, "|", cell[n])
    below[++n_below] = "- " name ": " cell[n]
    print short "below |"
}

function flush(    i) {
    if (n_below) print ""
    for (i = 1; i <= n_below; i++) wrap(below[i], "  ")
    n_below = 0
}

!/^\|/ { flush() }
/^ / || length($0) <= 100 { print; next }
/^\|/ { row($0); next }
{ wrap($0, /^- / ? "  " : "") }
END { flush() }
