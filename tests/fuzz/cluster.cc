// Any bytes as a cluster file: refused with a place, or a whole cluster that survives being written and read.

#include <cstdint>

#include "evenkeel/model/cluster_file.h"
#include "tests/fuzz/bounds.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace evenkeel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (names_many(text)) return 0;
  const auto cluster = parse_cluster(text, "fuzz");
  if (!cluster) {
    ensure(!cluster.error().format().empty(), "a refusal says why");
    return 0;
  }
  ensure(check(*cluster).empty(), "a cluster that was read is whole");
  for (const Syntax syntax : {Syntax::yaml, Syntax::json}) {
    const auto again = parse_cluster(format_cluster(*cluster, syntax), "again", syntax);
    ensure(again.has_value() && *again == *cluster, "a cluster survives being written and read");
  }
  return 0;
}
