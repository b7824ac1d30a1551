#include "evenkeel/cli/plan_input.h"

#include <array>

#include "evenkeel/model/cluster_file.h"
#include "evenkeel/place/kafka.h"

namespace evenkeel::cli {
namespace {

constexpr std::array<std::string_view, 3> from_names = {"cluster", "kafka-reassign", "kcat"};

std::string shown(const std::string& file) { return file == "-" ? "<stdin>" : file; }

std::optional<std::string> read(Session& session, const std::string& file) {
  auto text = session.io.read_file(file);
  if (text) return *std::move(text);
  session.fail(text.error());
  return std::nullopt;
}

std::optional<Cluster> read_cluster(Session& session, const std::string& file) {
  const auto text = read(session, file);
  if (!text) return std::nullopt;
  auto cluster = parse_cluster(*text, shown(file));
  if (cluster) return *std::move(cluster);
  session.fail(cluster.error());
  return std::nullopt;
}

std::optional<Cluster> read_kafka(Session& session, const PlanInput& input) {
  std::optional<std::string> text = read(session, input.file), described;
  if (!text) return std::nullopt;
  place::KafkaTexts texts;
  (input.from == PlanFrom::kcat ? texts.kcat : texts.reassign) = place::KafkaText{*text, shown(input.file)};
  if (!input.describe.empty()) {
    described = read(session, input.describe);
    if (!described) return std::nullopt;
    texts.kcat = place::KafkaText{*described, shown(input.describe)};
  }
  auto kafka = place::parse_kafka(texts);
  if (!kafka) return session.fail(kafka.error()), std::nullopt;
  if (!input.overlay.empty()) {
    const auto overlay = read_cluster(session, input.overlay);
    if (!overlay) return std::nullopt;
    auto laid = place::lay_over(*std::move(kafka), *overlay);
    if (!laid) return session.fail(laid.error().in(shown(input.overlay))), std::nullopt;
    *kafka = *std::move(laid);
  }
  for (const std::string& note : kafka->notes) session.say(note);
  return std::move(kafka->cluster);
}

std::optional<std::string> why_not_together(const PlanInput& input) {
  if (!input.describe.empty() && input.from != PlanFrom::kafka_reassign)
    return "--describe goes with --from kafka-reassign; what kcat prints is read alone with --from kcat";
  if (!input.overlay.empty() && input.from == PlanFrom::cluster)
    return "--overlay goes with --from kafka-reassign and --from kcat; a cluster file says everything itself";
  if ((input.file == "-") + (input.describe == "-") + (input.overlay == "-") > 1)
    return "standard input can be read once: name files";
  return std::nullopt;
}

}  // namespace

void add_plan_input(CLI::App& command, Session& session, PlanInput& input) {
  const auto add_other_file = [&](const std::string& name, std::string& file, const std::string& description) {
    auto* option = command.add_option(name, file, description);
    option->type_name("FILE");
    session.hints[option] = {.words = {}, .files = true};
  };
  add_file(command, session, input.file)->required();
  add_word(
      command, session, "--from", "a form of input", from_names,
      [&input](std::size_t at) { input.from = static_cast<PlanFrom>(at); },
      "What the file is: cluster (as without it), kafka-reassign or kcat (what kcat -L -J prints)")
      ->type_name("FORM");
  add_other_file("--describe", input.describe,
                 "With --from kafka-reassign: what kcat -L -J prints, for brokers and other topics");
  add_other_file("--overlay", input.overlay,
                 "With Kafka's files: a cluster file with settings, nodes and workloads to lay over them");
}

std::optional<Cluster> read_plan_input(Session& session, const PlanInput& input) {
  if (auto why = why_not_together(input)) {
    session.fail(Error{Code::invalid, *std::move(why)});
    return std::nullopt;
  }
  return input.from == PlanFrom::cluster ? read_cluster(session, input.file) : read_kafka(session, input);
}

}  // namespace evenkeel::cli
