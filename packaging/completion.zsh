#compdef diffbench
# Completion of diffbench for zsh: the program itself says what fits.
_diffbench() {
  local -a found
  found=(${(f)"$("$words[1]" --complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (($#found)); then compadd -- $found; else _files; fi
}
_diffbench "$@"
