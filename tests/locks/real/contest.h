#pragma once
// Contest: a lock on real servers, the processes that contend for it (contender.h), and what they said.
//
//   Contest contest(servers.url("/locks"), "session", "/a", 1s);
//   const Term before = contest.kill_holder();      // and another process takes its place among those who wait
//   contest.wait_after(before.token);               // the next one has it, and has done some work
//   contest.check();                                // that never two had it, as all were told on one clock
//
// Processes are started by the thread that makes the contest (processes.h). What does not come in time is thrown.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "evenkeel/locks/locks.h"
#include "evenkeel/store/blocking.h"
#include "tests/locks/real/contender.h"
#include "tests/store/backends/processes.h"

namespace evenkeel::locks {

class Contest {
 public:
  // From one acquisition to what was last heard of it.
  struct Term {
    Token token;
    std::size_t runner = 0;
    Instant from = Instant::max();
    Instant to = Instant::min();        // good until then at least
    Instant deadline = Instant::min();  // the latest that its holder trusted in
    int writes = 0;
    bool lost = false;
    bool again = false;    // and good after that
    bool late = false;     // its holder wrote after it was lost
    bool refused = false;  // its holder tried to
  };

  Contest(std::string url, std::string mode, std::string path, Duration ttl);

  // The latest one that has done some work; waits for one after that token.
  Term wait_after(Token token);
  Term latest() { return wait_after(Token()); }
  // Until something holds for that acquisition.
  void wait(Token token, std::string_view what, const std::function<bool(const Term&)>& holds);
  // Until the lock's holder, whoever that is, has done more.
  void wait_progress();

  // Stops the process that has the lock while it has it, or kills it and starts another; answers with its last term.
  Term stop_holder();
  void go_on(std::size_t runner) { runners_.at(runner)->process.resume(); }
  Term kill_holder();

  // All terms so far, by token.
  std::map<Token, Term> terms() const;
  // What was said, and what is in the store now.
  void check(store::Blocking& store);

 private:
  struct Runner {
    Runner(std::vector<std::string> command, const std::string& file) : log(file), process(std::move(command), file) {}
    std::string log;
    test::Process process;
  };
  struct Line {
    std::string what;
    Token token;
    std::int64_t first = 0, second = 0;
  };

  void start_runner();
  static std::vector<Line> lines(const std::string& log);
  std::map<std::int64_t, Token> counted() const;
  void wait_until(std::string_view what, const std::function<bool()>& holds);
  std::string explain() const;

  ContenderOptions options_;
  test::TempFolder folder_;
  std::vector<std::unique_ptr<Runner>> runners_;  // the dead too: what they said counts
};

}  // namespace evenkeel::locks
