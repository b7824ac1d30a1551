// The rules of the broker as stories: a block is a trace, its output the events. Each is played on the scheduler and on the naive
// model, which must agree. Commands:
//   trace [OPTION…]  plays the input; what cannot be read ends it, shown behind "! ". Options: queue_limit_first, refuse_oversized,
//                    waiting_max=N
//   config NAME      puts a configure line aside; a line "= NAME" of a later input stands for it

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "evenkeel/base/text.h"
#include "tests/broker/runners.h"
#include "tests/story/story.h"

namespace evenkeel::broker {
namespace {

template <class Engine>
std::string play(const std::string& input, const Options& options) {
  RunnerOf<Engine> runner(options);
  std::string out;
  std::istringstream lines(input);
  for (std::string line; std::getline(lines, line);) {
    const auto done = runner.line(line, out);
    if (done) continue;
    const Diagnostic& wrong = done.error();
    out += fmt::format("! {}:{}: {}\n", wrong.place.line, wrong.place.column, wrong.message);
    if (!wrong.hint.empty()) out += fmt::format("!   {}\n", wrong.hint);
    break;
  }
  return out;
}

class Stories {
 public:
  std::string handle(const story::Block& block) {
    if (block.command == "config") {
      configs_[block.args.at(0)] = block.input;
      return "kept";
    }
    std::string input;
    std::istringstream lines(block.input);
    for (std::string line; std::getline(lines, line);)
      input += line.starts_with("= ") ? configs_.at(line.substr(2)) : line + "\n";
    const Options options = options_of(block.args);
    std::string naive = play<NaiveModel>(input, options);
    EXPECT_EQ(play<Scheduler>(input, options), naive) << "the scheduler and the naive model differ, line " << block.line;
    return naive;
  }

 private:
  static Options options_of(const std::vector<std::string>& words) {
    Options options;
    for (const std::string& word : words) {
      if (word == "queue_limit_first") options.queue_limit_first = true;
      if (word == "refuse_oversized") options.refuse_oversized = true;
      if (word.starts_with("waiting_max=")) options.waiting_max = parse_unsigned(word.substr(12)).value_or(0);
    }
    return options;
  }

  std::map<std::string, std::string> configs_;
};

TEST(BrokerRules, Stories) {
  story::run_folder("broker/rules", [] {
    auto stories = std::make_shared<Stories>();
    return [stories](const story::Block& block) { return stories->handle(block); };
  });
}

}  // namespace
}  // namespace evenkeel::broker
