// evenkeel version, and evenkeel --version

#include "evenkeel_version.h"

#include "evenkeel/base/write.h"
#include "evenkeel/cli/command.h"

namespace evenkeel::cli {
namespace {

std::string version_as(Output output) {
  switch (output) {
    case Output::table:
      return fmt::format("evenkeel {}\n", version_text);
    case Output::wide:
      return fmt::format("evenkeel {} ({}, {})\n", version_text, compiler_text, build_text);
    case Output::name:
      return fmt::format("version/{}\n", version_text);
    case Output::json:
    case Output::yaml:
      break;
  }
  Writer out(output == Output::json ? Syntax::json : Syntax::yaml);
  out.begin_map().key("version").text(version_text).key("compiler").text(compiler_text).key("build").text(build_text).end_map();
  return std::move(out).take();
}

}  // namespace

void add_version(CLI::App& app, Session& session) {
  app.set_version_flag("--version", version_as(Output::table), "Print the version and exit");
  auto* command = app.add_subcommand("version", "Print the version");
  auto output = std::make_shared<Output>(Output::table);
  add_output(*command, session, *output);
  command->callback([&session, output] { session.print(version_as(*output)); });
}

}  // namespace evenkeel::cli
