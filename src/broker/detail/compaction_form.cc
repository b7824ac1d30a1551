#include "evenkeel/broker/detail/compaction_form.h"

#include <algorithm>

#include "evenkeel/base/text.h"

namespace evenkeel::broker {
namespace {

constexpr std::string_view prefix = "queue_legacy";
constexpr std::uint64_t default_cpu = 2;
constexpr Micros legacy_duration{30'000'000};
constexpr int generations = 4;

std::string name_of(const LegacyQueue& queue) { return fmt::format("{}{}", prefix, queue.id); }

template <class Specs, class Changes>
std::string first_difference(const Specs& specs, const Changes& wanted, std::string_view noun) {
  for (std::size_t at = 0; at < specs.size(); ++at) {
    if (at >= wanted.size() || !(specs[at] == wanted[at]))
      return fmt::format("{} {} is not as that form has it", noun, quote(specs[at].name));
  }
  return specs.size() < wanted.size() ? fmt::format("{} {} is missing", noun, quote(wanted[specs.size()].name)) : "";
}

std::string difference(const Config& config, const Config& wanted) {
  if (auto queue = first_difference(config.queues, wanted.queues, "queue"); !queue.empty()) return queue;
  if (auto type = first_difference(config.types, wanted.types, "task"); !type.empty()) return type;
  return "the total limit is not the sum of the cpu limits";
}

}  // namespace

Result<ConfigPatch> convert_compaction(std::span<const LegacyQueue> queues) {
  ConfigPatch out;
  std::uint64_t sum = default_cpu;
  for (const LegacyQueue& queue : queues) {
    if (__builtin_add_overflow(sum, queue.quota, &sum))
      return fail(Code::invalid, "the quotas and {} for queue_default sum up to more than {}", default_cpu, unlimited);
    out.queues.push_back({name_of(queue), 100, {{"cpu", queue.quota}}});
  }
  out.queues.push_back({"queue_default", 30, {{"cpu", default_cpu}}});
  for (std::uint64_t generation = 0; generation < generations; ++generation) {
    const auto own = std::ranges::find(queues, generation, &LegacyQueue::id);
    const LegacyQueue& queue = own != queues.end() ? *own : queues.back();
    out.types.push_back({fmt::format("compaction_gen{}", generation), name_of(queue), legacy_duration});
  }
  out.types.push_back({"unknown", "queue_default", legacy_duration});
  out.limit = {{"cpu", sum}};
  return out;
}

Result<std::vector<LegacyQueue>> to_compaction(const Config& config) {
  std::vector<LegacyQueue> queues;
  for (const QueueSpec& queue : config.queues) {
    if (!queue.name.starts_with(prefix)) continue;
    const auto id = parse_unsigned(queue.name.substr(prefix.size()));
    const auto cpu = find_amount(queue.limit, "cpu");
    if (id && cpu) queues.push_back({*id, *cpu});
  }
  constexpr std::string_view only =
      "the Compaction Broker's form holds queues queue_legacyN of weight 100 with a cpu limit, queue_default, and their tasks";
  if (queues.empty()) return fail(Code::refused, "{}: there is no queue_legacyN; write it as protobuf or yaml", only);
  const auto converted = convert_compaction(queues);
  if (!converted) return fail(Code::refused, "{}: {}", only, converted.error().message);
  const Config wanted = merge({}, *converted);
  if (wanted == config) return queues;
  return fail(Code::refused, "{}: {}; write it as protobuf or yaml", only, difference(config, wanted));
}

}  // namespace evenkeel::broker
