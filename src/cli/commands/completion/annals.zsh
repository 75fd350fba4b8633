#compdef annals
# zsh completion of annals; add to ~/.zshrc after compinit: source <(annals completion zsh)
_annals() {
  local -a candidates
  candidates=("${(@f)$(annals complete -- "${(@Q)words[2,CURRENT]}" 2> /dev/null)}")
  if [[ -n "$candidates" ]]; then compadd -U -- $candidates; else _files; fi
}
compdef _annals annals
