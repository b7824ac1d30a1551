// Any bytes as a broker's config: refused with a place, or a config that survives being written and read in every form.

#include <cstdint>

#include "evenkeel/broker/config_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace evenkeel;
  using namespace evenkeel::broker;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto patch = parse_patch(text, "fuzz");
  ensure(patch.has_value() || !patch.error().format().empty(), "a refusal says why");
  const auto config = parse_config(text, "fuzz");
  if (!config) {
    ensure(!config.error().format().empty(), "a refusal says why");
    return 0;
  }
  ensure(patch.has_value(), "a config is a patch");
  if (check(*config)) ensure(check(merge(default_config(), *patch)).has_value(), "right ones merged are right");
  for (const ConfigForm form : {ConfigForm::yaml, ConfigForm::json, ConfigForm::protobuf, ConfigForm::compaction}) {
    const auto formatted = format_config(*config, form);
    ensure(formatted.has_value() || form == ConfigForm::compaction, "what was read can be written");
    if (!formatted) continue;
    const auto again = parse_config(*formatted, "again");
    ensure(again.has_value() && *again == *config, "a config survives being written and read");
  }
  return 0;
}
