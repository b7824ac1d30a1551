#pragma once
// The Compaction Broker's config, which came before the Resource Broker's: numbered queues, each with how many compactions may run.
//
// YDB's type of task for the queue of id i was compaction_gen<i>, for i from 0 to 3. So compaction_gen<i> goes on the queue of id i; where
// there is none, on the last queue given, since there must be some queue for it.

#include <span>
#include <vector>

#include "evenkeel/broker/config.h"

namespace evenkeel::broker {

struct LegacyQueue {
  std::uint64_t id = 0;
  std::uint64_t quota = 0;
};

// The queues in their order, at least one. Code::invalid if the quotas and what queue_default needs pass 64 bits.
Result<ConfigPatch> convert_compaction(std::span<const LegacyQueue> queues);

// The queues that would be converted into this config; Code::refused, with the reason, if there are none such.
Result<std::vector<LegacyQueue>> to_compaction(const Config& config);

}  // namespace evenkeel::broker
