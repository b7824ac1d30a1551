#pragma once
// Files: whole ones, in and out, with errors that name the file and the system's reason.

#include <string>
#include <string_view>

#include "evenkeel/base/quantity.h"
#include "evenkeel/base/result.h"

namespace evenkeel {

// All bytes of a file ("-": standard input). not_found, denied, too_large (over `most`, read no further), otherwise unavailable.
Result<std::string> read_file(const std::string& path, Bytes most);

// Puts `content` in place of the file by writing beside it, syncing and renaming: a reader sees the old or the new, never a part,
// and a failure leaves the old one and nothing else.
Result<void> replace_file(const std::string& path, std::string_view content);

}  // namespace evenkeel
