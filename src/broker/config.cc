#include "evenkeel/broker/config.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "evenkeel/base/text.h"
#include "evenkeel/broker/detail/config_names.h"

namespace evenkeel::broker {
namespace {

// What stands beside amounts in a line of a trace: in a submit or an update, and in a row of counters.
constexpr std::array<std::string_view, 10> trace_fields = {"cmd",    "client",   "task",     "type",     "priority",
                                                           "cookie", "resubmit", "finished", "enqueued", "infly"};

constexpr std::string_view required_queue = "queue_default";
constexpr std::string_view required_type = "unknown";

// A name as messages show it: itself, unless it would break the line.
std::string shown(std::string_view name) {
  const std::string quoted = quote(name, 200);
  return quoted.size() == name.size() + 2 ? fmt::format("'{}'", name) : quoted;
}

template <class Specs>
std::set<std::string_view> names_of(const Specs& specs) {
  std::set<std::string_view> names;
  for (const auto& spec : specs) names.insert(spec.name);
  return names;
}

template <class Specs>
Result<void> check_once(const Specs& specs, std::string_view noun) {
  std::set<std::string_view> seen;
  for (const auto& spec : specs) {
    if (!seen.insert(spec.name).second)
      return fail(Code::refused, "{} {} is given twice; keep one, or rename one", noun, shown(spec.name));
  }
  return {};
}

template <class Specs>
Result<void> check_named(const Specs& specs, std::string_view noun) {
  for (const auto& spec : specs) {
    if (spec.name.empty()) return fail(Code::refused, "a {} has an empty name; give it one", noun);
  }
  return {};
}

Result<void> check_amounts(const Amounts& amounts) {
  std::set<std::string_view> seen;
  for (const auto& [resource, amount] : amounts) {
    if (resource.empty()) return fail(Code::refused, "a resource has an empty name; give it one");
    if (std::ranges::find(trace_fields, resource) != trace_fields.end())
      return fail(Code::refused, "a resource may not be named {}, which is a field beside it in traces; rename it",
                  shown(resource));
    if (is_reserved_resource(resource))
      return fail(Code::refused, "a resource may not be named {}; write 'cpu' or 'memory' in small letters, or rename it",
                  shown(resource));
    if (!seen.insert(resource).second)
      return fail(Code::refused, "resource {} is given twice in one limit; keep one", shown(resource));
  }
  return {};
}

Result<void> check_resources(const Config& config) {
  if (const auto count = resources_of(config).size(); count > resources_max)
    return fail(Code::refused, "the limits name {} resources, with cpu and memory; at most {}", count, resources_max);
  for (const QueueSpec& queue : config.queues) {
    if (auto right = check_amounts(queue.limit); !right) return right;
  }
  return check_amounts(config.limit);
}

// Where each name of a list is, and room for those that are new: a patch as long as the config costs no square.
template <class Spec>
class ByName {
 public:
  explicit ByName(std::vector<Spec>& specs) : specs_(specs) {
    for (std::size_t at = 0; at < specs.size(); ++at) places_.emplace(specs[at].name, at);
  }
  Spec& operator[](const std::string& name) {
    const auto [found, added] = places_.emplace(name, specs_.size());
    if (added) specs_.emplace_back().name = name;
    return specs_[found->second];
  }

 private:
  std::vector<Spec>& specs_;
  std::map<std::string, std::size_t> places_;
};

void merge_amounts(Amounts& into, const Amounts& from) {
  std::map<std::string, std::size_t> places;
  for (std::size_t at = 0; at < into.size(); ++at) places.emplace(into[at].first, at);
  for (const auto& [resource, amount] : from) {
    const auto [found, added] = places.emplace(resource, into.size());
    if (added) {
      into.emplace_back(resource, amount);
    } else {
      into[found->second].second = amount;
    }
  }
}

}  // namespace

Config default_config() {
  constexpr auto seconds = [](std::uint64_t count) { return Micros(count * 1'000'000); };
  const auto limit = [](std::uint64_t cpu) { return Amounts{{"cpu", cpu}}; };
  return {.queues = {{"queue_default", 30, limit(2)},
                     {"queue_compaction_gen0", 100, limit(2)},
                     {"queue_compaction_gen1", 100, limit(2)},
                     {"queue_compaction_gen2", 100, limit(1)},
                     {"queue_compaction_gen3", 100, limit(1)},
                     {"queue_transaction", 100, limit(4)},
                     {"queue_background_compaction", 10, limit(1)}},
          .types = {{"unknown", "queue_default", seconds(60)},
                    {"compaction_gen0", "queue_compaction_gen0", seconds(10)},
                    {"compaction_gen1", "queue_compaction_gen1", seconds(30)},
                    {"compaction_gen2", "queue_compaction_gen2", seconds(120)},
                    {"compaction_gen3", "queue_compaction_gen3", seconds(600)},
                    {"transaction", "queue_transaction", seconds(600)},
                    {"background_compaction", "queue_background_compaction", seconds(60)},
                    {"background_compaction_gen0", "queue_background_compaction", seconds(10)},
                    {"background_compaction_gen1", "queue_background_compaction", seconds(20)},
                    {"background_compaction_gen2", "queue_background_compaction", seconds(60)},
                    {"background_compaction_gen3", "queue_background_compaction", seconds(300)}},
          .limit = {{"cpu", 10}, {"memory", std::uint64_t{16} << 30}}};
}

std::vector<std::string> resources_of(const Config& config) {
  std::vector<std::string> resources = {"cpu", "memory"};
  std::set<std::string_view> seen = {"cpu", "memory"};
  const auto add = [&](const Amounts& amounts) {
    for (const auto& [resource, amount] : amounts) {
      if (seen.insert(resource).second) resources.push_back(resource);
    }
  };
  for (const QueueSpec& queue : config.queues) add(queue.limit);
  add(config.limit);
  return resources;
}

std::optional<std::uint64_t> find_amount(const Amounts& amounts, std::string_view resource) {
  for (const auto& [name, amount] : amounts) {
    if (name == resource) return amount;
  }
  return std::nullopt;
}

Result<void> check(const Config& config) {
  const auto queues = names_of(config.queues);
  for (const TypeSpec& type : config.types) {
    if (!queues.contains(type.queue))
      return fail(Code::refused, "task {} uses unknown queue {}", shown(type.name), shown(type.queue));
  }
  if (!queues.contains(required_queue)) return fail(Code::refused, "queue '{}' is required", required_queue);
  if (!names_of(config.types).contains(required_type)) return fail(Code::refused, "task '{}' is required", required_type);
  if (auto right = check_once(config.queues, "queue"); !right) return right;
  if (auto right = check_once(config.types, "task"); !right) return right;
  if (auto right = check_named(config.queues, "queue"); !right) return right;
  if (auto right = check_named(config.types, "task"); !right) return right;
  if (queues.contains("total"))
    return fail(Code::refused, "a queue may not be named 'total', which stands for all queues together; rename it");
  return check_resources(config);
}

Config merge(Config config, const ConfigPatch& patch) {
  ByName queues(config.queues);
  for (const auto& change : patch.queues) {
    QueueSpec& queue = queues[change.name];
    queue.weight = change.weight.value_or(queue.weight);
    merge_amounts(queue.limit, change.limit);
  }
  ByName types(config.types);
  for (const auto& change : patch.types) {
    TypeSpec& type = types[change.name];
    type.queue = change.queue.value_or(type.queue);
    type.default_duration = change.default_duration.value_or(type.default_duration);
  }
  merge_amounts(config.limit, patch.limit);
  return config;
}

}  // namespace evenkeel::broker
