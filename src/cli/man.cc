// evenkeel man: the manual page, made from the commands themselves.

#include "evenkeel_version.h"

#include "evenkeel/cli/command.h"

namespace evenkeel::cli {
namespace {

// Text as roff takes it literally: no line starts with a control character, no backslash or dash means anything.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string option_names(const CLI::Option& option) {
  std::string out;
  for (const std::string& name : option.get_snames()) out += "-" + name;
  for (const std::string& name : option.get_lnames()) out += (out.empty() ? "--" : ", --") + name;
  if (out.empty()) return option.get_single_name();  // a word such as FILE
  if (option.get_items_expected_max() > 0) out += " " + option.get_type_name();
  return out;
}

void describe(CLI::App& app, const std::string& path, std::string& out) {
  const auto verbs = commands_of(app);
  if (verbs.empty()) {
    out += fmt::format(".SS \"{}\"\n{}.\n", roff(path), roff(app.get_description()));
    for (const CLI::Option* option : app.get_options()) {
      out += fmt::format(".TP\n.B {}\n{}\n", roff(option_names(*option)), roff(option->get_description()));
    }
    // A command without a footer of its own shows its parent's.
    const bool own = app.get_parent() == nullptr || app.get_footer() != app.get_parent()->get_footer();
    if (own && !app.get_footer().empty()) out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(app.get_footer()));
  }
  for (CLI::App* verb : verbs) describe(*verb, path + " " + verb->get_name(), out);
}

std::string manual(CLI::App& app) {
  std::string out = fmt::format(".TH EVENKEEL 1 \"\" \"evenkeel {}\" \"User Commands\"\n", version_text);
  out += fmt::format(
      ".SH NAME\nevenkeel \\- keeps a cluster's work on an even keel\n.SH SYNOPSIS\n.B evenkeel\n.I "
      "COMMAND\n[\\fIOPTION\\fR...]\n");
  out += ".SH COMMANDS\n";
  describe(app, "evenkeel", out);
  out += fmt::format(".SH EXIT STATUS\n.nf\n{}\n.fi\n", roff(app.get_footer().substr(0, app.get_footer().find("\n`"))));
  out += ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf set and not empty, nothing is coloured.\n";
  out += ".TP\n.B EVENKEEL_STORE, EVENKEEL_CLUSTER\nWhich store and which cluster, for commands that are not told.\n";
  out += ".TP\n.B EVENKEEL_STORE_USER, EVENKEEL_STORE_PASSWORD\nWho asks the store.\n";
  out += ".TP\n.B EVENKEEL_CONFIG\nThe file of contexts, if not evenkeel/config.yaml below XDG_CONFIG_HOME or ~/.config.\n";
  return out;
}

}  // namespace

void add_man(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("man", "Print the manual page, for man -l -");
  command->callback([&session, &app] { session.print(manual(app)); });
}

}  // namespace evenkeel::cli
