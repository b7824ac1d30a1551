#pragma once
// What is in a store, as people and programs read it. A value that is UTF-8 is shown as `value`, any other as `base64`.

#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/result.h"
#include "evenkeel/base/write.h"
#include "evenkeel/cli/output.h"
#include "evenkeel/store/store.h"

namespace evenkeel::cli {

std::string to_base64(std::string_view bytes);
// Strict: its alphabet, its padding, nothing else.
Result<std::string> from_base64(std::string_view text);

// "value" or "base64", as a field of a map.
void write_value(Writer& out, std::string_view value);
// An entry as a map in one line; `values`: with its value.
void write_entry(Writer& out, const store::Entry& entry, bool values);

std::string entries_as(const std::vector<store::Entry>& entries, store::Revision revision, Output output, bool values);
std::string entry_as(const store::Entry& entry, store::Revision revision, Output output);
// What a write answers: "revision 7".
std::string revision_as(store::Revision revision, Output output);

}  // namespace evenkeel::cli
