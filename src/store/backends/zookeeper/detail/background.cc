#include "evenkeel/store/backends/zookeeper/detail/background.h"

#include <netdb.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <optional>
#include <thread>

#include "evenkeel/base/address.h"

namespace evenkeel::store::zookeeper {
namespace {

// Of the threads that ask for one name each.
struct Answers {
  std::mutex mutex;
  std::condition_variable came;
  std::vector<std::optional<Result<>>> all;

  bool have_all() const {
    return std::ranges::all_of(all, [](const auto& one) { return one.has_value(); });
  }
  bool have_good() const {
    return std::ranges::any_of(all, [](const auto& one) { return one && *one; });
  }
};

}  // namespace

void in_background(std::move_only_function<void()> work) {
  std::thread([work = std::move(work)]() mutable { work(); }).detach();
}

bool Door::post(Loop::Callback callback) {
  const std::lock_guard lock(mutex_);
  if (loop_ == nullptr) return false;
  loop_->post(std::move(callback));
  return true;
}

void Door::close() {
  const std::lock_guard lock(mutex_);
  loop_ = nullptr;
}

Result<> resolve_by_system(const std::string& host) {
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(host.c_str(), nullptr, nullptr, &found); code != 0)
    return fail(Code::unavailable, "{}", gai_strerror(code));
  freeaddrinfo(found);
  return {};
}

Resolved resolve_all(const std::vector<std::string>& endpoints, const Resolve& resolve, Duration patience) {
  const auto answers = std::make_shared<Answers>();
  answers->all.resize(endpoints.size());
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    in_background([answers, i, endpoint = endpoints[i], resolve] {
      const auto address = parse_address(endpoint);
      Result<> answer = address ? resolve(address->host) : Result<>(fail(address.error()));
      const std::lock_guard lock(answers->mutex);
      answers->all[i] = std::move(answer);
      answers->came.notify_all();
    });
  }
  std::unique_lock lock(answers->mutex);
  answers->came.wait(lock, [&] { return answers->have_good() || answers->have_all(); });
  answers->came.wait_for(lock, patience, [&] { return answers->have_all(); });
  Resolved resolved;
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const auto& answer = answers->all[i];
    const auto address = parse_address(endpoints[i]);
    if (answer && *answer && address)
      resolved.usable.push_back(fmt::format("{}:{}", address->host, address->port));
    else
      resolved.unusable.push_back({endpoints[i], answer ? answer->error().message : "its name was not resolved in time"});
  }
  return resolved;
}

}  // namespace evenkeel::store::zookeeper
