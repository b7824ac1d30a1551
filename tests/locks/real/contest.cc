#include "tests/locks/real/contest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace evenkeel::locks {
namespace {

constexpr int contenders = 2;
constexpr Duration patience = 60s;  // a bound for what is broken

Instant instant(std::int64_t nanoseconds) { return Instant(Duration(nanoseconds)); }

}  // namespace

Contest::Contest(std::string url, std::string mode, std::string path, Duration ttl)
    : options_{.url = std::move(url), .mode = std::move(mode), .path = std::move(path), .ttl = ttl} {
  for (int i = 0; i < contenders; ++i) start_runner();
}

void Contest::start_runner() {
  options_.name = fmt::format("{}-{}", options_.mode, runners_.size());
  std::vector<std::string> command = contender_words(options_);
  command.insert(command.begin(), "/proc/self/exe");
  runners_.push_back(std::make_unique<Runner>(std::move(command), fmt::format("{}/{}", folder_.path(), options_.name)));
}

// A line that is not whole yet, or never will be, is left out.
std::vector<Contest::Line> Contest::lines(const std::string& log) {
  std::vector<Line> all;
  std::ifstream in(log);
  std::string text;
  while (std::getline(in, text) && !in.eof()) {
    if (text.starts_with('#')) continue;
    std::istringstream words(text);
    Line line;
    std::int64_t token = 0;
    if (!(words >> line.what >> token >> line.first >> line.second)) throw std::runtime_error("a contender said: " + text);
    line.token = Token(token);
    all.push_back(std::move(line));
  }
  return all;
}

std::map<Token, Contest::Term> Contest::terms() const {
  std::map<Token, Term> all;
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    for (const Line& line : lines(runners_[i]->log)) {
      Term& term = all.try_emplace(line.token, Term{.token = line.token, .runner = i}).first->second;
      if (term.runner != i) ADD_FAILURE() << "two processes have token " << line.token.value();
      if (line.what == "valid") {
        term.from = std::min(term.from, instant(line.first));
        term.to = std::max(term.to, instant(line.first));
        term.deadline = std::max(term.deadline, instant(line.second));
      }
      if (line.what == "wrote") ++term.writes;
      if (line.what == "lost") term.lost = true;
      if (line.what == "again") term.again = true;
      if (line.what == "late") term.late = true;
      if (line.what == "refused") term.refused = true;
    }
  }
  return all;
}

std::map<std::int64_t, Token> Contest::counted() const {
  std::map<std::int64_t, Token> all;
  for (const auto& runner : runners_) {
    for (const Line& line : lines(runner->log)) {
      if (line.what != "wrote" && line.what != "late") continue;
      const auto [other, fresh] = all.emplace(line.first, line.token);
      EXPECT_TRUE(fresh) << fmt::format("{} was counted with token {} and with token {}", line.first, other->second, line.token);
    }
  }
  return all;
}

std::string Contest::explain() const {
  std::string text;
  for (const auto& runner : runners_) text += runner->process.output_tail() + "\n";
  return text;
}

void Contest::wait_until(std::string_view what, const std::function<bool()>& holds) {
  test::wait_until(fmt::format("{} of {}", what, options_.path), patience, holds, [&] { return explain(); });
}

Contest::Term Contest::wait_after(Token token) {
  Term found;
  wait_until(fmt::format("a holder after token {}", token), [&] {
    const auto all = terms();
    if (all.empty()) return false;
    found = all.rbegin()->second;
    return found.token > token && found.writes > 0;
  });
  return found;
}

void Contest::wait(Token token, std::string_view what, const std::function<bool(const Term&)>& holds) {
  wait_until(fmt::format("{} of token {}", what, token), [&] { return holds(terms().at(token)); });
}

void Contest::wait_progress() {
  const Term before = latest();
  wait_until("progress", [&] {
    const Term now = latest();
    return now.token > before.token || now.writes > before.writes + 2;
  });
}

Contest::Term Contest::stop_holder() {
  constexpr int tries = 20;  // on a slow machine it may have lost it by itself just then
  for (int i = 0; i < tries; ++i) {
    const Term term = latest();
    runners_[term.runner]->process.pause();
    const Term now = terms().at(term.token);
    if (!now.lost) return now;
    go_on(term.runner);
    wait_after(term.token);
  }
  throw std::runtime_error("nobody keeps the lock:\n" + explain());
}

Contest::Term Contest::kill_holder() {
  const Term term = stop_holder();
  runners_[term.runner]->process.kill();
  start_runner();
  return term;
}

void Contest::check(store::Blocking& store) {
  SCOPED_TRACE(options_.path);
  Term before;
  for (const auto& [token, term] : terms()) {
    if (term.writes == 0 && term.from == Instant::max()) ADD_FAILURE() << "a token out of nothing: " << token.value();
    const Instant until = std::max(before.to, before.deadline);
    EXPECT_GT(term.from, until) << fmt::format("token {} was held at {}, and token {} trusted until {}", token, format(term.from),
                                               before.token, format(until));
    EXPECT_FALSE(term.again) << "token " << token.value();
    before = term;
  }
  const auto counts = counted();
  Token latest_writer;
  for (const auto& [count, token] : counts) {
    EXPECT_GE(token, latest_writer) << fmt::format("{} was counted with an old token", count);
    latest_writer = std::max(latest_writer, token);
  }
  const auto read = store.get(counter_of(options_.path));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(read->entry);
  std::int64_t count = 0, token = 0;
  std::istringstream(read->entry->value) >> count >> token;
  ASSERT_FALSE(counts.empty());
  EXPECT_GE(count, counts.rbegin()->first) << "the counter went back";
  EXPECT_GE(Token(token), latest_writer);
}

}  // namespace evenkeel::locks
