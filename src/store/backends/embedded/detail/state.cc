#include "evenkeel/store/backends/embedded/detail/state.h"

#include "evenkeel/store/backends/embedded/detail/check.h"

namespace evenkeel::store::embedded::detail {

// All threads have ended.
State::~State() {
  if (disk && opened) disk->note(revision);
}

Result<KeyValue> State::fetch(Stamp stamp, std::int64_t wanted) const {
  auto entry = disk->fetch(stamp);
  if (entry || entry.error().code != Code::not_found) return entry;
  if (wanted < compacted) return fail(compacted_error());
  return fail(Code::unavailable, "{}", entry.error().message);
}

std::optional<KeyValue> State::at(const std::string& key, std::int64_t wanted) const {
  std::optional<Stamp> on_disk;
  {
    const auto lock = gate.read();
    if (wanted < compacted) return {};
    const auto seen = View{index}.at(key, wanted);
    if (!seen) return {};
    if (seen->latest != nullptr) return to_entry(key, *seen->latest);
    on_disk = seen->stamp;
  }
  auto entry = fetch(*on_disk, wanted);
  return entry ? std::optional(*std::move(entry)) : std::nullopt;
}

}  // namespace evenkeel::store::embedded::detail
