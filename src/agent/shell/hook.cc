#include <httplib.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "evenkeel/agent/shell/asker.h"
#include "evenkeel/base/clock.h"

namespace evenkeel::agent {
namespace {

constexpr Duration connect_within = 5s;
constexpr Duration read_longest = 24h;  // what sockets take for "without end"

// Ends a call when its time is over, or nobody wants it any more. What stops a call is lost on one that is still connecting, so it is said again until the
// call is over.
class Watchdog {
 public:
  Watchdog(httplib::Client& client, Duration within, std::stop_token stop)
      : thread_([this, &client, within, stop = std::move(stop)] { watch(client, within, stop); }) {}
  ~Watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch(httplib::Client& client, Duration within, const std::stop_token& stop) {
    constexpr Duration again = 20ms;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, std::min(within, read_longest), [this] { return over_; });
    while (!over_) {
      client.stop();
      changed_.wait_for(lock, again, [this] { return over_; });
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool over_ = false;
  std::thread thread_;
};

class Hook final : public Asker {
 public:
  explicit Hook(HookUrl url) : url_(std::move(url)) {}

  Result<std::string> ask(const Question& question, const Patience& patience, const std::stop_token& stop) override {
    const BootClock clock;
    const Instant end = later(clock.now(), patience.within);
    httplib::Client client(url_.origin);
    client.set_connection_timeout(std::min(connect_within, patience.within));
    client.set_read_timeout(std::min(read_longest, patience.within));
    client.set_write_timeout(std::min(read_longest, patience.within));
    httplib::Request request;
    request.method = "POST";
    request.path = url_.path;
    request.body = question.text;
    request.set_header("Content-Type", "application/json");
    std::string body;
    bool cut = false;
    request.content_receiver = [&](const char* bytes, std::size_t size, std::uint64_t, std::uint64_t) {
      const std::size_t room = answer_bytes_max - body.size();
      cut = cut || size > room;
      body.append(bytes, std::min(size, room));
      return !cut;
    };
    const auto got = [&] {
      const Watchdog watchdog(client, patience.within, stop);
      return client.send(request);
    }();
    if (stop.stop_requested()) return fail(Code::cancelled, "stopped");
    if (got) return answer_of_hook(got->status, body, cut);
    if (cut) return answer_of_hook(httplib_good, body, cut);
    if (clock.now() >= end) return fail(Code::unavailable, "overdue, given up after {}", format(patience.within));
    if (got.error() == httplib::Error::Connection) return fail(Code::unavailable, "{} cannot be reached", url_.origin);
    return fail(Code::unavailable, "{}: {}", url_.origin, httplib::to_string(got.error()));
  }

 private:
  static constexpr int httplib_good = 200;
  const HookUrl url_;
};

}  // namespace

std::unique_ptr<Asker> make_hook(HookUrl url) { return std::make_unique<Hook>(std::move(url)); }

}  // namespace evenkeel::agent
