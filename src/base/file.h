#pragma once
// Files: whole ones, in and out, with errors that name the file and the system's reason.

#include <string>
#include <string_view>

#include "evenkeel/base/quantity.h"
#include "evenkeel/base/result.h"

namespace evenkeel {

// All bytes of a file ("-": standard input), of a pipe or of a device. not_found, denied, invalid (a directory, or no possible
// path), too_large (over `most`: read no further), otherwise unavailable.
Result<std::string> read_file(const std::string& path, Bytes most);

// Puts `content` in place of the file by writing beside it, syncing and renaming: a reader sees the old or the new, never a part,
// and a failure leaves the old one and nothing else. A symbolic link stays, and what it points to is replaced; permissions stay as
// they were (a new file: 0644 under the umask). Codes as above; unknown_outcome if the new content is in place and only the last
// step, making the rename itself outlive a power cut, failed.
Result<void> replace_file(const std::string& path, std::string_view content);
// The same for what is nobody else's business: only its owner may read it afterwards (0600, whatever it was), and folders that are missing are
// made, for its owner alone as well.
Result<void> replace_private_file(const std::string& path, std::string_view content);

}  // namespace evenkeel
