// evenkeel broker default-config [--to FORM]: what a broker starts with if told nothing.

#include "evenkeel/cli/broker_form.h"

namespace evenkeel::cli {

void add_broker_default_config(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("default-config", "Print the config that a broker starts with if told nothing");
  command->footer(
      "A good start for a config of your own.\n\n"
      "Examples:\n"
      "  evenkeel broker default-config > broker.yaml\n"
      "  evenkeel broker default-config --to protobuf");
  auto form = std::make_shared<std::optional<broker::ConfigForm>>();
  add_config_form(*command, session, *form, "yaml");
  command->callback([&session, form] {
    const auto text = broker::format_config(broker::default_config(), form->value_or(broker::ConfigForm::yaml));
    return text ? session.print(*text) : session.fail(text.error());
  });
}

}  // namespace evenkeel::cli
