#!/usr/bin/env bash
# Completion in the real shells: each loads the script that the program prints, and is asked what could follow.
# Usage: shells.sh FOLDER-OF-THE-PROGRAM
set -euo pipefail
PATH=$(cd "$1" && pwd):$PATH
failed=0
expect() {  # WHAT WANTED GOT
  if [ "$2" = "$3" ]; then
    printf 'ok: %s\n' "$1"
  else
    printf 'FAILED: %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
    failed=1
  fi
}

in_bash() {  # the words typed so far, the last one under the cursor
  bash --norc -c 'source <(evenkeel completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _evenkeel; echo "${COMPREPLY[*]}"' bash "$@"
}
expect "bash: a command" "validate" "$(in_bash evenkeel val)"
expect "bash: a value" "json" "$(in_bash evenkeel validate -o j)"
expect "bash: a value after =" "json" "$(in_bash evenkeel validate --output = j)"
expect "bash: any value after =" "table wide json yaml name" "$(in_bash evenkeel validate --output =)"
expect "bash: an option after a value after =" "--file" "$(in_bash evenkeel validate --output = json --fi)"
expect "bash: a file" "tests" "$(cd "$(dirname "$0")/../.." && in_bash evenkeel validate -f test)"
expect "bash: nothing fits" "" "$(in_bash evenkeel xyz)"

# zsh's completion system needs a terminal; what the function hands to it does not.
in_zsh() {
  zsh -f -c 'compdef() {}; _describe() { shift; print -r -- "${(P)1[@]%%:*}" }; _files() { print -r -- FILES }
    compset() { print -r -- "compset $*" }
    source <(evenkeel completion zsh); words=("$@"); CURRENT=$#; _evenkeel' zsh "$@"
}
expect "zsh: a command" "validate" "$(in_zsh evenkeel val)"
expect "zsh: a value" "json" "$(in_zsh evenkeel validate -o j)"
expect "zsh: a value after =" "--output=json" "$(in_zsh evenkeel validate --output=j)"
expect "zsh: a file" "FILES" "$(in_zsh evenkeel validate -f t)"
expect "zsh: a file after =" "compset -P *= FILES" "$(in_zsh evenkeel validate --file=t | tr '\n' ' ' | sed 's/ $//')"
expect "zsh: nothing fits" "status 1" "$(in_zsh evenkeel xyz || echo "status $?")"

in_fish() { fish --no-config -c 'evenkeel completion fish | source; complete -C "$argv[1]"' "$1" | cut -f1 | tr '\n' ' ' | sed 's/ $//'; }
expect "fish: a command" "validate version" "$(in_fish 'evenkeel v')"
expect "fish: a value" "json" "$(in_fish 'evenkeel validate -o j')"
expect "fish: a value after =" "--output=json" "$(in_fish 'evenkeel validate --output=j')"
expect "fish: a file after =" "--file=CMakeLists.txt" "$(cd "$(dirname "$0")/.." && in_fish 'evenkeel validate --file=CMakeL')"
expect "fish: a file" "CMakeLists.txt" "$(cd "$(dirname "$0")/.." && in_fish 'evenkeel validate -f CMakeL')"

exit $failed
