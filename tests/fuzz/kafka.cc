// Any bytes as Kafka's files: refused with a place, or a whole cluster. Up to the first line of dashes it is what kcat prints, behind it
// an assignment; without such a line it is tried as each of them. A plan that moves every leader to the end of its row is then written as a
// reassignment file and read again.

#include "evenkeel/place/kafka.h"

#include <cstdint>

#include "evenkeel/model/cluster_file.h"

namespace {

using namespace evenkeel;

place::Plan with_leaders_moved(const Cluster& cluster) {
  place::Plan plan;
  for (const auto& [workload, rows] : cluster.placement) {
    Placement& out = plan.placement[workload];
    for (std::size_t shard = 0; shard < rows.size(); ++shard) {
      const auto row = rows[shard];
      for (std::size_t i = 0; i < row.size(); ++i) out.add(row[(i + 1) % row.size()]);
      out.end_row();
    }
  }
  return plan;
}

void try_texts(const place::KafkaTexts& texts) {
  const auto read = place::parse_kafka(texts);
  if (!read) {
    ensure(!read.error().format().empty(), "a refusal says why");
    return;
  }
  ensure(check(read->cluster).empty(), "a cluster that was read is whole");
  ensure(place::lay_over(*read, Cluster{.name = ClusterId("default")}).has_value(), "an empty overlay fits everything");
  const place::Plan plan = with_leaders_moved(read->cluster);
  const auto written = place::format_kafka_reassign(read->cluster, plan);
  ensure(written.has_value(), "what came from Kafka can go back");
  const auto again = place::parse_kafka({.kcat = texts.kcat, .reassign = place::KafkaText{*written, "again"}});
  if (!texts.kcat) return;  // half a topic, alone, is refused
  ensure(again.has_value() && again->cluster.placement == plan.placement, "a reassignment survives being written and read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view dashes = "\n----\n";
  const auto cut = text.find(dashes);
  if (cut == std::string_view::npos) {
    try_texts({.kcat = place::KafkaText{text, "kcat"}});
    try_texts({.reassign = place::KafkaText{text, "reassign"}});
  } else {
    try_texts({.kcat = place::KafkaText{text.substr(0, cut), "kcat"},
               .reassign = place::KafkaText{text.substr(cut + dashes.size()), "reassign"}});
  }
  return 0;
}
