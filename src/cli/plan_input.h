#pragma once
// What `evenkeel plan` plans for: a cluster file, or Kafka's own files with what they do not tell laid over.

#include <optional>
#include <string>

#include "evenkeel/cli/command.h"
#include "evenkeel/model/cluster.h"

namespace evenkeel::cli {

enum class PlanFrom : std::uint8_t { cluster, kafka_reassign, kcat };

struct PlanInput {
  PlanFrom from = PlanFrom::cluster;
  std::string file;
  std::string describe;  // what kcat prints, beside a reassignment file
  std::string overlay;   // a cluster file
};
// -f, --from, --describe and --overlay.
void add_plan_input(CLI::App& command, Session& session, PlanInput& input);

// The cluster, or nothing after the session was told what is wrong.
std::optional<Cluster> read_plan_input(Session& session, const PlanInput& input);

}  // namespace evenkeel::cli
