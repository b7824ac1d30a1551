#pragma once
// What a node and a client of the counters have in common: how they find each other, and what answers mean.

#include <httplib.h>

#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <evenkeel/route/shell/router.h>
#include <evenkeel/store/backends/open.h>
#include <evenkeel/store/blocking.h>

namespace counter {

using namespace evenkeel;

// Of HTTP: acknowledged; not understood; certainly not done, for somebody else leads; a follower knows of a later epoch, which it names; neither done nor
// failed.
constexpr int done = 200, wrong = 400, not_the_leader = 409, refused = 412, unknown = 503;

// Who serves what, and where everybody is: a router on a loop of its own.
class Routes {
 public:
  static Result<std::unique_ptr<Routes>> open(const std::string& url, const ClusterId& cluster) {
    auto store = store::Blocking::open([&](Loop& loop) { return store::open(loop, url, {}); });
    if (!store) return fail(store.error());
    auto routes = std::unique_ptr<Routes>(new Routes);
    routes->store_ = *std::move(store);
    routes->on_loop([&](store::Store& on) { routes->router_ = std::make_unique<route::Router>(on, cluster); });
    return routes;
  }
  ~Routes() {
    on_loop([&](store::Store&) { router_.reset(); });
  }
  std::shared_ptr<const route::Table> table() const { return router_->table(); }
  bool ready() const { return router_->ready(); }

 private:
  Routes() = default;
  void on_loop(const std::function<void(store::Store&)>& work) const {
    (void)store_->run<bool>([&](store::Store& on, store::Answer<bool> answer) { work(on), answer(true); });
  }
  std::unique_ptr<store::Blocking> store_;
  std::unique_ptr<route::Router> router_;
};

inline httplib::Client connect(const std::string& address) {
  httplib::Client client("http://" + address);
  client.set_connection_timeout(1s);
  client.set_read_timeout(3s);
  return client;
}

using Flags = std::map<std::string, std::string>;

inline int fail_with(const Error& error) {
  fmt::print(stderr, "counter: {}\n", error.message);
  return 1;
}
int usage();
// `words` are those after `client`. Signals are blocked everywhere, and waited for where the program waits.
int run_client(const std::vector<std::string>& words, Flags flags, const sigset_t& signals);

}  // namespace counter
