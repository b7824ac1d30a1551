#include "tests/store/backends/conformance_rivals.h"

#include <fmt/format.h>

#include <algorithm>

#include "evenkeel/store/session.h"

namespace evenkeel::test {
namespace {

using store::Answer;
using store::Session;
using store::Store;

constexpr int rivals = 3;
constexpr Duration rivals_ttl = 1s;
constexpr Duration held_for = 700ms;

}  // namespace

Rivals::Rivals(std::string url) : url_(std::move(url)) {
  for (int i = 0; i < rivals; ++i) threads_.emplace_back([this, i](const std::stop_token& stop) { run(i, stop); });
}

void Rivals::run(int me, const std::stop_token& stop) {
  try {
    const auto client = open_url(url_, {.timeout = 2s});
    for (int i = 0; !stop.stop_requested(); ++i) hold(*client, me, i % 2 == 0);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

// Holds it for a while, if it can be had, and ends it properly or as in a crash.
void Rivals::hold(Client& client, int me, bool properly) {
  auto opened = client.call<std::unique_ptr<Session>>([](Store& store, Answer<std::unique_ptr<Session>> answer) {
    Session::open(store, {.key = "/beat", .ttl = rivals_ttl}, 2 * rivals_ttl, std::move(answer));
  });
  if (!opened) {
    const Code code = opened.error().code;
    EXPECT_TRUE(code == Code::conflict || code == Code::unavailable || code == Code::unknown_outcome) << opened.error().message;
    return;
  }
  std::unique_ptr<Session> session = *std::move(opened);
  Belief belief{.client = me};
  client.on_loop([&] { belief.from = client.loop().now(); });
  const Instant enough = belief.from + held_for;
  bool valid = true;
  wait_until("the end of a session's time", patience, [&] {
    client.on_loop([&] { valid = session->valid(); });
    return !valid || client.loop().now() > enough;
  });
  client.on_loop([&] {
    belief.to = std::min(client.loop().now(), session->deadline());
    if (!properly) session.reset();
  });
  if (session) client.call<store::Revision>([&](Store&, Answer<store::Revision> answer) { session->end(std::move(answer)); });
  client.on_loop([&] { session.reset(); });
  const std::lock_guard lock(mutex_);
  if (belief.from < belief.to) beliefs_.push_back(belief);
}

void Rivals::finish() {
  wait_until("some sessions one after the other", patience, [&] {
    const std::lock_guard lock(mutex_);
    return beliefs_.size() > 2;
  });
  threads_.clear();
  std::ranges::sort(beliefs_, {}, &Belief::from);
  for (std::size_t i = 1; i < beliefs_.size(); ++i) {
    const Belief& before = beliefs_[i - 1];
    const Belief& after = beliefs_[i];
    EXPECT_LE(before.to, after.from) << fmt::format("client {} believed from {} to {}, and client {} from {}", before.client,
                                                    format(before.from), format(before.to), after.client, format(after.from));
  }
}

}  // namespace evenkeel::test
