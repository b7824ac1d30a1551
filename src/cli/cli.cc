#include "evenkeel/cli/cli.h"

#include <algorithm>

#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"
#include "evenkeel/cli/command.h"

namespace evenkeel::cli {
namespace {

// Every command, in the order of --help.
constexpr void (*table_of_commands[])(CLI::App&, Session&) = {
    add_validate, add_plan,    add_serve,    add_agent,   add_apply,      add_top,    add_cluster,
    add_node,     add_rollout, add_workload, add_shard,   add_routes,     add_broker, add_store,
    add_lock,     add_context, add_sim,      add_version, add_completion, add_man};

constexpr std::string_view program_about = "Evenkeel keeps a cluster's work on an even keel.";
constexpr std::string_view program_footer =
    "Exit status: 0 done, 1 failed or refused, 2 wrong usage or input, 3 not found,\n"
    "             4 conflict, 5 unreachable or timed out, 6 denied.\n"
    "`evenkeel COMMAND --help` says more about a command.";

// The command that the words lead to, and the first word that no command has.
std::pair<CLI::App*, std::string> walk(CLI::App& app, std::span<const std::string> args) {
  CLI::App* at = &app;
  for (const std::string& word : args) {
    if (word.starts_with('-') || commands_of(*at).empty()) break;
    CLI::App* next = find_command(*at, word);
    if (next == nullptr) return {at, word};
    at = next;
  }
  return {at, ""};
}

std::vector<std::string> names_of_commands(CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> names_of_options(CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string near(std::string_view word, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return suggestion(word, views);
}

// The path of a command as one types it: "evenkeel broker serve".
std::string path_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : path_of(*app.get_parent()) + " " + app.get_name();
}

void wrong_usage(Session& session, const CLI::App& command, std::string_view message, std::string_view hint) {
  session.say(message);
  if (!hint.empty()) session.io.err(fmt::format("  {}\n", hint));
  session.io.err(fmt::format("  see: {} --help\n", path_of(command)));
  session.status = Exit::usage;
}

std::string help_of(const CLI::App& app) { return app.help(app.get_parent() == nullptr ? "" : path_of(*app.get_parent())); }

// A word too many may be why a required option is missing: it was meant as its value.
bool is_about_extras(const CLI::ParseError& error) {
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  return code == CLI::ExitCodes::ExtrasError || code == CLI::ExitCodes::RequiredError;
}

bool takes_file(const Session& session, const CLI::App& command) {
  return std::ranges::any_of(command.get_options(), [&](const CLI::Option* option) {
    const auto hint = session.hints.find(option);
    return hint != session.hints.end() && hint->second.files && option->count() == 0 && option->check_sname("f");
  });
}

// What CLI11 found wrong, with what was probably meant.
void parse_failed(Session& session, CLI::App& app, std::span<const std::string> args, const CLI::ParseError& error) {
  const auto [command, unknown] = walk(app, args);
  if (!unknown.empty()) {
    return wrong_usage(session, *command, fmt::format("unknown command {}", quote(unknown)),
                       near(unknown, names_of_commands(*command)));
  }
  const auto known = names_of_options(*command);
  for (const std::string& word : args) {
    if (word == "--") break;  // what follows is a command's own
    const auto name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || std::ranges::find(known, name) != known.end()) continue;
    return wrong_usage(session, *command, fmt::format("unknown option {}", quote(name)), near(name, known));
  }
  auto extras = app.remaining(true);
  std::erase(extras, "--");  // which only says where options end
  if (!extras.empty() && is_about_extras(error)) {
    const std::string file = takes_file(session, *command) ? fmt::format("did you mean -f {}?", quote(extras[0])) : "";
    return extras[0].starts_with('-')
               ? wrong_usage(session, *command, fmt::format("unknown option {}", quote(extras[0])), "")
               : wrong_usage(session, *command, fmt::format("unexpected argument {}", quote(extras[0])), file);
  }
  for (const CLI::Option* option : command->get_options()) {
    if (option->count() > 1 && option->get_items_expected_max() == 1) {
      return wrong_usage(session, *command, fmt::format("{} is given {} times", option->get_name(), option->count()),
                         "give it once");
    }
  }
  wrong_usage(session, *command, error.what(), "");
}

std::unique_ptr<CLI::App> make_app(Session& session) {
  auto app = std::make_unique<CLI::App>(std::string(program_about), "evenkeel");
  app->footer(std::string(program_footer));
  for (const auto add : table_of_commands) add(*app, session);
  return app;
}

void dispatch(Session& session, CLI::App& app, std::span<const std::string> args) {
  // A noun without its verb, or no words at all: say what there is.
  if (const auto [command, unknown] = walk(app, args); unknown.empty() && !commands_of(*command).empty()) {
    const bool options = std::ranges::any_of(args, [](const std::string& word) { return word.starts_with('-'); });
    if (!options) {
      session.io.err(help_of(*command));
      session.status = Exit::usage;
      return;
    }
  }
  std::vector<std::string> reversed(args.rbegin(), args.rend());  // as CLI11 wants it
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp& help) {
    const auto [command, unknown] = walk(app, args);
    if (!unknown.empty()) return parse_failed(session, app, args, help);
    session.print(help_of(*command));
  } catch (const CLI::CallForVersion& version) {
    session.print(version.what());
  } catch (const CLI::ParseError& error) {
    parse_failed(session, app, args, error);
  }
}

}  // namespace

Exit exit_of(Code code) {
  switch (code) {
    case Code::invalid:
    case Code::too_large:
      return Exit::usage;
    case Code::not_found:
      return Exit::not_found;
    case Code::conflict:
      return Exit::conflict;
    case Code::denied:
      return Exit::denied;
    case Code::unavailable:
    case Code::unknown_outcome:
      return Exit::unreachable;
    case Code::refused:
    case Code::cancelled:
      break;
  }
  return Exit::failed;
}

std::vector<CLI::App*> commands_of(CLI::App& app) {
  return app.get_subcommands([](CLI::App* command) { return !command->get_group().empty(); });
}

CLI::App* find_command(CLI::App& app, const std::string& word) {
  const auto commands = commands_of(app);
  const auto found = std::ranges::find_if(commands, [&](const CLI::App* command) { return command->check_name(word); });
  return found != commands.end() ? *found : nullptr;
}

void Session::print(std::string_view data) {
  if (const auto written = io.out(data); !written) fail(written.error().in("standard output"));
}

void Session::say(std::string_view words) {
  end_line();
  io.err(fmt::format("evenkeel: {}\n", words));
}

void Session::end_line() {
  if (std::exchange(open_line, false)) io.err("\n");
}

void Session::fail(const Error& error) {
  say(error.message);
  status = exit_of(error.code);
}

void Session::fail(const Diagnostics& problems) {
  std::string text = problems.format() + "\n";
  constexpr std::string_view plain = ": error: ", red = ": \033[31merror\033[0m: ";
  for (std::size_t at = 0; io.err_colour && (at = text.find(plain, at)) != std::string::npos; at += red.size())
    text.replace(at, plain.size(), red);
  io.err(text);
  status = Exit::usage;
}

CLI::Option* add_word(CLI::App& command, Session& session, const std::string& name, std::string_view what,
                      std::span<const std::string_view> words, std::function<void(std::size_t)> chosen,
                      const std::string& description) {
  const std::string long_name = name.substr(name.find("--"));
  auto* option = command.add_option_function<std::string>(
      name,
      [=, chosen = std::move(chosen)](const std::string& word) {
        const auto found = std::ranges::find(words, word);
        if (found == words.end())
          throw CLI::ValidationError(long_name, fmt::format("{} is not {}; {}", quote(word), what, suggestion(word, words)));
        chosen(static_cast<std::size_t>(found - words.begin()));
      },
      description);
  session.hints[option] = {.words = {words.begin(), words.end()}};
  return option;
}

CLI::Option* add_output(CLI::App& command, Session& session, Output& output) {
  return add_word(
             command, session, "-o,--output", "a form of output", output_names,
             [&output](std::size_t at) { output = static_cast<Output>(at); },
             "Form of the output: table, wide, json, yaml or name")
      ->type_name("FORM");
}

CLI::Option* add_file(CLI::App& command, Session& session, std::string& file) {
  auto* option = command.add_option("-f,--file", file, "The file to read; - is standard input");
  option->type_name("FILE");
  session.hints[option] = {.words = {}, .files = true};
  return option;
}

CLI::Option* add_duration(CLI::App& command, const std::string& name, Duration& duration, const std::string& description) {
  return command
      .add_option_function<std::string>(
          name,
          [&duration, name](const std::string& word) {
            const auto parsed = parse_duration(word);
            if (!parsed) throw CLI::ValidationError(name, parsed.error().message);
            if (*parsed <= Duration(0)) throw CLI::ValidationError(name, "must be longer than nothing, for example 5s");
            duration = *parsed;
          },
          description)
      ->type_name("DURATION");
}

CLI::Option* add_count(CLI::App& command, const std::string& name, std::uint64_t& count, const std::string& description) {
  return command
      .add_option_function<std::string>(
          name,
          [&count, name](const std::string& word) {
            const auto parsed = parse_unsigned(word);
            if (!parsed) throw CLI::ValidationError(name, parsed.error().message);
            count = *parsed;
          },
          description)
      ->type_name("COUNT");
}

int run(const std::vector<std::string>& args, Io& io) {
  Session session(io);
  const auto app = make_app(session);
  if (!args.empty() && args[0] == "__complete") {
    const auto words = std::span(args).subspan(1);
    const auto before = words.empty() ? words : words.first(words.size() - 1);
    session.print(complete(*app, session, before, words.empty() ? "" : words.back()));
  } else {
    dispatch(session, *app, args);
  }
  return static_cast<int>(session.status);
}

}  // namespace evenkeel::cli
