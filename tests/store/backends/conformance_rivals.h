#pragma once
// Rivals: clients that want the same session, on servers that fail. At no time may two of them believe that they hold it.
//
// All are on this host and its one clock, so when each of them believed can be compared, which in life nobody can.

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/store/backends/conformance.h"

namespace evenkeel::test {

class Rivals {
 public:
  explicit Rivals(std::string url);
  // Ends them, and checks.
  void finish();

 private:
  struct Belief {
    Instant from;
    Instant to;
    int client = 0;
  };

  void run(int me, const std::stop_token& stop);
  void hold(Client& client, int me, bool properly);

  std::string url_;
  std::mutex mutex_;
  std::vector<Belief> beliefs_;
  std::vector<std::jthread> threads_;
};

}  // namespace evenkeel::test
