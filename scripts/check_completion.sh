# Completion in bash, read from standard input, offers what it should.
source /dev/stdin
offers() { # WANT WORDS... : the last word is the one that is completed
    local want=$1
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _heddle
    [ "${COMPREPLY[*]}" = "$want" ] && return
    echo "completion of '$*': got '${COMPREPLY[*]}', want '$want'" >&2
    exit 1
}
offers "compile compare" heddle comp
offers "quantize query" heddle help qu
offers "--trace --trace-from --trace-cycles --trace-level" heddle run m.onnx --tr
offers "" heddle machines --tr
offers "prepare plan program" heddle run m.onnx --dump p
offers "Makefile" heddle run Makef
