# bash completion of annals; add to ~/.bashrc: source <(annals completion bash)
_annals() {
  local line="${COMP_LINE:0:COMP_POINT}" cur="${COMP_WORDS[COMP_CWORD]}" word quote="" prefix="" candidate
  local -a words
  read -ra words <<< "$line"
  case "$line" in *[[:space:]]) words+=("");; esac
  word="${words[${#words[@]}-1]}"
  case "$word" in [\'\"]*) quote="${word:0:1}";; *) prefix="${word%"$cur"}";; esac
  COMPREPLY=()
  while IFS= read -r candidate; do
    if [ -z "$quote" ]; then candidate="$(printf %q "$candidate")"; fi
    COMPREPLY+=("${candidate#"$prefix"}")
  done < <(annals complete -- "${words[@]:1}" 2> /dev/null)
  case "${COMPREPLY[0]}" in *[:=]) compopt -o nospace 2> /dev/null;; esac
}
complete -o default -F _annals annals
