// evenkeel broker convert FILE [--to FORM] [--check]: a broker's config in another form, once it is known to be right.

#include <algorithm>

#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"
#include "evenkeel/cli/broker_form.h"

namespace evenkeel::cli {
namespace {

struct BrokerConvertOptions {
  std::string file;
  std::optional<broker::ConfigForm> form;
  bool check = false;
};

std::string summary(const broker::Config& config, const std::string& file) {
  const auto count = [](std::size_t number, std::string_view noun) {
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
  };
  std::vector<std::string> resources = broker::resources_of(config);
  for (std::string& resource : resources) {
    // Any name may be a resource's; one that is not a plain word must not steer the terminal.
    if (const auto quoted = quote(resource); quoted.size() != resource.size() + 2) resource = quoted;
  }
  return fmt::format("{} is valid: {}, {}, resources {}", file, count(config.queues.size(), "queue"),
                     count(config.types.size(), "task"), fmt::join(resources, ", "));
}

void convert(Session& session, const BrokerConvertOptions& options) {
  const auto text = session.io.read_file(options.file);
  if (!text) return session.fail(text.error());
  const std::string file = options.file == "-" ? "<stdin>" : options.file;
  const auto config = broker::parse_config(*text, file);
  if (!config) return session.fail(config.error());
  if (const auto right = broker::check(*config); !right) {
    // Refused by configure; here it is the input that is wrong.
    return session.fail(Error{Code::invalid, right.error().message}.in(file));
  }
  const auto other = broker::is_protobuf_text(*text) ? broker::ConfigForm::yaml : broker::ConfigForm::protobuf;
  const auto formatted = broker::format_config(*config, options.form.value_or(other));
  if (!formatted) return session.fail(formatted.error().in(file));
  options.check ? session.say(summary(*config, file)) : session.print(*formatted);
}

}  // namespace

CLI::Option* add_config_form(CLI::App& command, Session& session, std::optional<broker::ConfigForm>& form,
                             std::string_view otherwise) {
  auto* option = command.add_option_function<std::string>(
      "--to",
      [&form](const std::string& word) {
        const auto found = std::ranges::find(config_form_names, word);
        if (found == config_form_names.end())
          throw CLI::ValidationError(
              "--to", fmt::format("{} is not a form of config; {}", quote(word), suggestion(word, config_form_names)));
        form = static_cast<broker::ConfigForm>(found - config_form_names.begin());
      },
      fmt::format("Form of the config: yaml, json, protobuf or compaction; without it {}", otherwise));
  option->type_name("FORM");
  session.hints[option] = {.words = {config_form_names.begin(), config_form_names.end()}};
  return option;
}

void add_broker_convert(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("convert", "Check a broker's config, and print it in another form");
  command->footer(
      "Reads YDB's protobuf text, YAML and JSON of the same shape, and the old CompactionBroker form.\n"
      "What a broker would refuse is refused here, with the reason.\n\n"
      "Examples:\n"
      "  evenkeel broker convert ydb.txt > broker.yaml\n"
      "  evenkeel broker convert broker.yaml --to json\n"
      "  evenkeel broker convert broker.yaml --check");
  auto options = std::make_shared<BrokerConvertOptions>();
  auto* file = command->add_option("FILE", options->file, "The config to read; - is standard input")->required();
  file->type_name("");
  session.hints[file] = {.words = {}, .files = true};
  add_config_form(*command, session, options->form, "yaml for protobuf text, and protobuf for others");
  command->add_flag("--check", options->check, "Write nothing; only say whether it could be done, and what is in it");
  command->callback([&session, options] { convert(session, *options); });
}

}  // namespace evenkeel::cli
