// evenkeel completion bash|zsh|fish, and what those scripts ask: evenkeel __complete WORD… PARTIAL
//
// The scripts know nothing of the commands; they ask the program each time, so they never go stale. The answer is a candidate a line,
// "word<TAB>description", and a last line that says whether file names complete too: ":files" or ":words".

#include <algorithm>
#include <iterator>

#include "evenkeel/cli/contexts.h"

namespace evenkeel::cli {
namespace {

constexpr std::string_view bash_script = R"script(# Completion of evenkeel for bash: source <(evenkeel completion bash)
_evenkeel() {
  local current=${COMP_WORDS[COMP_CWORD]} answer line word words=()
  # To bash, --output=json is three words.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == = ]] || words+=("$word")
  done
  [[ $current != = ]] || current=
  COMPREPLY=()
  answer=$("${COMP_WORDS[0]}" __complete "${words[@]}" "$current" 2>/dev/null) || return 0
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current") ;;
      :words) ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done <<< "$answer"
}
complete -F _evenkeel evenkeel
)script";

constexpr std::string_view zsh_script = R"script(#compdef evenkeel
# Completion of evenkeel for zsh: source <(evenkeel completion zsh), or put it into a folder of $fpath as _evenkeel
_evenkeel() {
  local line answer failed=1
  local -a candidates
  answer=$("${words[1]}" __complete "${(@)words[2,CURRENT-1]}" "${words[CURRENT]}" 2>/dev/null) || return 1
  for line in "${(@f)answer}"; do
    case $line in
      :files)
        [[ ${words[CURRENT]} != --*=* ]] || compset -P '*='
        _files && failed=0
        ;;
      :words) ;;
      *) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
  done
  (( ${#candidates} )) && _describe 'evenkeel' candidates && failed=0
  return failed
}
if [[ ${funcstack[1]} == _evenkeel ]]; then
  _evenkeel "$@"
elif (( $+functions[compdef] )); then
  compdef _evenkeel evenkeel
fi
)script";

constexpr std::string_view fish_script = R"script(# Completion of evenkeel for fish: evenkeel completion fish | source
function __evenkeel_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    switch $line
      case ':files'
        set -l option (string match -r '^--[^=]+=' -- "$current")
        __fish_complete_path (string replace -r '^--[^=]+=' '' -- "$current") | string replace -r -- '^' "$option"
      case ':words'
      case '*'
        echo $line
    end
  end
end
complete -c evenkeel -f -a '(__evenkeel_complete)'
)script";

struct Candidates {
  std::string text;
  std::string_view partial;
  std::string_view before = {};  // what each candidate starts with, beyond its word
  bool files = false;

  void add(std::string_view word, std::string_view description) {
    if (word.starts_with(partial)) text += fmt::format("{}{}\t{}\n", before, word, description.substr(0, description.find('\n')));
  }
};

const CLI::Option* option_of(const CLI::App& app, const std::string& word) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->check_name(word)) return option;
  }
  return nullptr;
}

// The words of a hint, and what has to be looked up.
std::vector<std::string> words_of(const Session& session, const ValueHint& hint) {
  std::vector<std::string> words = hint.words;
  if (hint.contexts) std::ranges::move(context_names(session.io), std::back_inserter(words));
  return words;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

}  // namespace

std::string complete(CLI::App& app, const Session& session, std::span<const std::string> words, std::string_view partial) {
  CLI::App* at = &app;
  const CLI::Option* waiting = nullptr;  // an option whose value comes next
  for (const std::string& word : words) {
    if (waiting != nullptr) {
      waiting = nullptr;
    } else if (word.starts_with('-')) {
      const CLI::Option* option = option_of(*at, word);
      if (option != nullptr && takes_value(*option)) waiting = option;
    } else if (CLI::App* next = find_command(*at, word)) {
      at = next;
    }
  }
  Candidates found{.text = {}, .partial = partial};
  if (const auto equals = partial.find('=');
      waiting == nullptr && equals != std::string_view::npos && partial.starts_with("--")) {
    waiting = option_of(*at, std::string(partial.substr(0, equals)));
    if (waiting == nullptr) return ":words\n";
    found.before = partial.substr(0, equals + 1);
    found.partial = partial.substr(equals + 1);
  }
  if (waiting != nullptr) {
    const auto hint = session.hints.find(waiting);
    if (hint != session.hints.end()) {
      for (const std::string& word : words_of(session, hint->second)) found.add(word, "");
      found.files = hint->second.files;
    }
  } else if (partial.starts_with('-')) {
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) found.add("--" + name, option->get_description());
      for (const std::string& name : option->get_snames()) found.add("-" + name, option->get_description());
    }
  } else {
    for (const CLI::App* command : commands_of(*at)) {
      found.add(command->get_name(), command->get_description());
    }
    // Words without a name of their own, such as FILE.
    for (const CLI::Option* option : at->get_options()) {
      const auto hint = session.hints.find(option);
      if (hint == session.hints.end() || !option->get_positional()) continue;
      for (const std::string& word : words_of(session, hint->second)) found.add(word, "");
      found.files = found.files || hint->second.files;
    }
  }
  return found.text + (found.files ? ":files\n" : ":words\n");
}

void add_completion(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("completion", "Print a script that completes commands in your shell");
  command->footer(
      "Examples:\n"
      "  source <(evenkeel completion bash)\n"
      "  source <(evenkeel completion zsh)\n"
      "  evenkeel completion fish | source");
  const auto add_shell = [&](const char* shell, std::string_view script) {
    command->add_subcommand(shell, fmt::format("Print the script for {}", shell))->callback([&session, script] {
      session.print(script);
    });
  };
  add_shell("bash", bash_script);
  add_shell("zsh", zsh_script);
  add_shell("fish", fish_script);
  command->require_subcommand(1);
}

}  // namespace evenkeel::cli
