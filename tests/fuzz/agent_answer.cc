// Any bytes as what a command or a hook answers: refused with what is wrong, or a value; and as what it says on standard error.

#include <cstdint>

#include "evenkeel/agent/agent.h"
#include "evenkeel/base/text.h"

namespace {

template <class T>
void check(const evenkeel::Result<T>& read) {
  using namespace evenkeel;
  if (read) return;
  ensure(!read.error().message.empty(), "a refusal says why");
  ensure(read.error().message.find('\n') == std::string::npos, "and in one line");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace evenkeel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(agent::parse_sealed(text, Epoch(7)));
  check(agent::parse_status(text));
  const auto held = agent::parse_inventory(text);
  check(held);
  if (held) ensure(agent::without_progress(*held).size() == held->size(), "nothing is forgotten");
  check(agent::parse_hook(text));
  check(agent::parse_may_lead(text, text));
  const std::string words = agent::last_words(text);
  ensure(words.size() <= 400 && words.find('\n') == std::string::npos, "a short line");
  ensure(find_invalid_utf8(text).has_value() || !find_invalid_utf8(words).has_value(), "characters stay whole");
  agent::Tail whole, in_parts;
  whole.add(text);
  for (std::size_t at = 0; at < size; at += 7) in_parts.add(text.substr(at, 7));
  ensure(whole.text() == in_parts.text() && whole.cut() == in_parts.cut(), "it does not matter how words come");
  return 0;
}
