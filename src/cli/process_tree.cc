#include "evenkeel/cli/process_tree.h"

#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace evenkeel::cli {
namespace {

// The parent of a process that runs, or 0: "42 (a name) S 1 …", where a name may have brackets.
pid_t parent_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t bracket = line.rfind(')');
  if (bracket == std::string::npos || bracket + 4 >= line.size()) return 0;
  const char state = line[bracket + 2];
  if (state == 'Z' || state == 'X') return 0;
  return static_cast<pid_t>(std::atol(line.c_str() + bracket + 4));
}

std::vector<pid_t> running_children() {
  std::vector<pid_t> children;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (parent_of(at->path()) == getpid()) children.push_back(static_cast<pid_t>(std::atol(name.c_str())));
  }
  return children;
}

}  // namespace

void kill_children() {
  constexpr int tries = 5'000;
  constexpr timespec millisecond{.tv_sec = 0, .tv_nsec = 1'000'000};
  for (int i = 0; i < tries; ++i) {
    const auto children = running_children();
    if (children.empty()) return;
    for (const pid_t child : children) kill(child, SIGKILL);
    nanosleep(&millisecond, nullptr);
  }
}

}  // namespace evenkeel::cli
