#pragma once
// Processes, ports and folders of tests: what a test starts, it ends.
//
//   TempFolder folder;                                                       // gone with the object
//   Process server({"etcd", "--data-dir", folder.path() + "/data"}, folder.path() + "/log");
//   server.pause(); server.resume(); server.kill();
//
// A child is in a process group of its own and is killed with its object, and by the kernel if the test dies. The kernel does so when the
// *thread* that started it ends, so a process is started on a thread that outlives it: a test's main thread, best.
// What goes wrong here is thrown: a test that cannot start its servers fails, and says why.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/base/time.h"

namespace evenkeel::test {

// Below $TMPDIR or /tmp; `memory`: in memory, where there is such a place, for servers whose disk is not what is tested.
class TempFolder {
 public:
  enum class Where : std::uint8_t { disk, memory };
  explicit TempFolder(Where where = Where::disk);
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Process {
 public:
  // `command[0]` is looked for in PATH. Its output, both kinds, is appended to the file.
  Process(std::vector<std::string> command, std::string output);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  bool running();              // not yet ended; paused counts as running
  void kill();                 // SIGKILL, and waits for its end; nothing if it has ended
  void pause();                // SIGSTOP: returns when it stands still
  void resume();               // SIGCONT
  void terminate();            // SIGTERM, without waiting
  int wait(Duration at_most);  // for its end: the exit code, or 128 + the signal; kills it and throws if it takes longer
  // The end of what it wrote, for messages.
  std::string output_tail() const;

 private:
  std::vector<std::string> command_;
  std::string output_;
  pid_t pid_ = -1;
  std::optional<int> status_;  // as waitpid gave it
};

// A port of 127.0.0.1 that nothing listens at. It is below those that the kernel gives to outgoing connections, so that it stays free while
// its server is down; two tests that draw the same one are told apart by listens().
std::uint16_t free_port();

// Whether that process itself listens at that port, of IPv4 or IPv6.
bool listens(pid_t pid, std::uint16_t port);

// One question over TCP to 127.0.0.1, and all that is answered until the other side closes; nothing if it could not be asked or takes longer.
std::optional<std::string> ask(std::uint16_t port, std::string_view question, Duration at_most);

// Asks until it holds; throws with `what` and `detail()` if it does not within the time. The time is a bound for broken servers, not a measure.
void wait_until(std::string_view what, Duration at_most, const std::function<bool()>& holds,
                const std::function<std::string()>& detail = {});

// The program next to which the tests were built: build/evenkeel.
std::string evenkeel_program();

}  // namespace evenkeel::test
