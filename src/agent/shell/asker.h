#pragma once
// Asker: who answers questions: a command that is run for each, or an HTTP hook.
//
// Both may be asked by any number of threads at once, and block until there is an answer, the time is over, or `stop` is requested.

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "evenkeel/agent/agent.h"

namespace evenkeel::agent {

struct Patience {
  Duration within = Duration::max();  // then a command is ended, and a call is given up
  Duration grace = 5s;                // between SIGTERM and SIGKILL
};

class Asker {
 public:
  virtual ~Asker() = default;
  // Code::unavailable: it failed, with its own words; cancelled: it was stopped.
  virtual Result<std::string> ask(const Question& question, const Patience& patience, const std::stop_token& stop) = 0;
};

std::unique_ptr<Asker> make_hook(HookUrl url);

// The command gets the question on its standard input and in its environment, and is the first of a process group of its own. Its standard output is the
// answer. It is over when the command itself ends: what it leaves running in the background goes on, and is not waited for. When the time is
// over, or nobody wants it any more, the whole group gets SIGTERM, and what is left of it SIGKILL. It is killed if this process ends.
std::unique_ptr<Asker> make_command(std::vector<std::string> words);

}  // namespace evenkeel::agent
