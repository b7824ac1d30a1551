#pragma once
// What the parts of operate.h share: how documents become writes, and how names that nobody knows are answered.

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/read.h"
#include "evenkeel/base/text.h"
#include "evenkeel/control/operate.h"

namespace evenkeel::control::detail {

// Whatever is written can be read again, and is not too large.
Result<Write> write_of(const Key& key, const ConfigDocument& document);
Result<Write> write_of(const Key& key, const NodeDocument& document);
Result<Write> write_of(const Key& key, const WorkloadDocument& document);
Result<Write> write_of(const Key& key, const OrderDocument& document);
Result<Write> write_of(const Key& key, const PermitDocument& document);

// One document, unless it is as it was.
template <class T>
Result<Changes> changed(const Key& key, const std::optional<T>& before, const T& after, std::string_view unchanged) {
  if (before ? *before == after : after == T{}) return Changes{.writes = {}, .notes = {std::string(unchanged)}};
  auto write = write_of(key, after);
  if (!write) return fail(std::move(write.error()));
  return Changes{.writes = {*std::move(write)}, .notes = {}};
}

template <class Ordered, class Id>
auto find_optional(const Ordered& all, const Id& id) -> std::optional<typename Ordered::mapped_type> {
  const auto found = all.find(id);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

// "there is no node "n9": did you mean "n8"?"
template <class Ids>
Error unknown(std::string_view what, std::string_view name, const Ids& known) {
  std::vector<std::string_view> words;
  for (const auto& id : known) words.push_back(id.str());
  const std::string hint = suggestion(name, words);
  return {Code::not_found, hint.empty() ? fmt::format("there is no {} {}", what, quote(name))
                                        : fmt::format("there is no {} {}: {}", what, quote(name), hint)};
}

// The workload's document, if it is there and not deleted.
Result<const WorkloadDocument*> find_workload(const Snapshot& seen, const WorkloadId& workload);

// A controller that has read all this takes office: what it would do at once.
Output feed(Machine& machine, const Snapshot& seen, Instant now);

}  // namespace evenkeel::control::detail
