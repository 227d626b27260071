# Completion of diffbench for bash 4.4 or later: the program itself says what fits.
_diffbench() {
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _diffbench diffbench
