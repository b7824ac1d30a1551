#pragma once
// Process: the real outside (cli.h) of a command: this process, its signals, its environment and the commands that it runs.
//
// Signals are taken from a descriptor by a thread, so nothing runs inside a handler. SIGINT and SIGTERM ask for the end, SIGHUP for
// reading anew; asked for the end a second time, the process ends at once, as it would have without us.
// While a command runs, a signal sent to us alone is passed on to it (what is typed at a terminal reaches both anyway), those that mean
// nothing to us too: quit, alarm, the users' two, a window's new size, to continue. And it is told to end if we are killed: it must
// not go on with what it no longer holds.

#include <sys/types.h>

#include <mutex>

#include "evenkeel/cli/cli.h"

namespace evenkeel::cli {

class Process final : public Outside {
 public:
  std::optional<std::string> variable(const std::string& name) const override;
  std::optional<Screen> screen(Stream stream) const override;
  std::unique_ptr<Watch> watch(std::function<void(Signal)> heard) override;
  Result<Ended> run(const Command& command) override;
  void end_command(End how) override;
  Result<std::optional<std::string>> ask(std::string_view prompt) override;
  Result<std::optional<std::string>> ask_secret(std::string_view prompt) override;
  void tell_ready() override;
  Result<Writer> create(const std::string& path) override;

 private:
  class SignalWatch;
  // True: a command runs, and it is its signal.
  bool pass_on(int signal, bool to_us_alone);
  bool ran();  // a command did, so what comes late was for it

  std::mutex mutex_;
  bool adopting_ = false;
  bool ran_ = false;
  bool asked_ = false;  // the command, to end
  pid_t child_ = 0;     // 0: none. Its number is not given to another process before this is 0 again.
};

}  // namespace evenkeel::cli
