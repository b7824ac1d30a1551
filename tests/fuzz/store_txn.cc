// Any bytes as a txn's document, and as a dump: refused with a place, or a value that survives being written and read.

#include <cstdint>

#include "evenkeel/cli/store_document.h"
#include "evenkeel/cli/store_dump.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace evenkeel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto txn = cli::parse_txn(text, "fuzz");
  ensure(txn.has_value() || !txn.error().format().empty(), "a refusal says why");
  if (txn) {
    ensure(store::check_txn(*txn).has_value(), "what is read may be sent");
    for (const Syntax syntax : {Syntax::yaml, Syntax::json}) {
      const auto again = cli::parse_txn(cli::format_txn(*txn, syntax), "again");
      ensure(again.has_value() && *again == *txn, "a txn survives being written and read");
    }
  }
  const auto dump = cli::parse_dump(text, "fuzz");
  ensure(dump.has_value() || !dump.error().format().empty(), "a refusal says why");
  if (dump) {
    const auto again = cli::parse_dump(cli::format_dump(*dump), "again");
    ensure(again.has_value() && *again == *dump, "a dump survives being written and read");
  }
  return 0;
}
