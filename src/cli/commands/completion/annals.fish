# fish completion of annals; save as ~/.config/fish/completions/annals.fish
function __annals_candidates
  set -l candidates (annals complete -- (commandline -opc)[2..-1] (commandline -ct) 2> /dev/null)
  if set -q candidates[1]; string join \n -- $candidates; else; __fish_complete_path (commandline -ct); end
end
complete -c annals -f -a '(__annals_candidates)'
