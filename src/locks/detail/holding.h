#pragma once
// Holding: a Keeper with its store, its timers and its callers.

#include <atomic>
#include <deque>
#include <stop_token>

#include "evenkeel/locks/detail/driver.h"
#include "evenkeel/locks/detail/keeper.h"

namespace evenkeel::locks::detail {

class Holding final : public Driver<Keeper> {
 public:
  Holding(std::shared_ptr<Common> common, Keeper keeper)
      : Driver(std::move(common), std::move(keeper)), deadline_(machine().deadline()) {}
  void start();

  bool session_lock() const { return machine().record().kind == Kind::session; }
  // These two from any thread.
  Instant deadline() const;
  bool valid() const { return good_ && loop().now() < deadline(); }
  void renew(store::Answer<Instant> answer);
  void release(store::Answer<void> answer);
  std::stop_token lost() const { return lost_.get_token(); }
  // Its Held is gone: a release goes on, and nobody is told.
  void drop();

 protected:
  void perform(Keeper::Effects& effects) override;

 private:
  template <class T>
  void tell(store::Answer<T> answer, Result<T> result);

  std::shared_ptr<Folder> folder_;
  std::shared_ptr<Folder::Told> following_;
  std::shared_ptr<Common::Lost> losing_;
  std::stop_source lost_;
  std::atomic<Instant> deadline_;  // the machine's, for other threads
  std::atomic<bool> good_ = true;  // neither lost nor being released
  std::deque<store::Answer<Instant>> renewals_;
  std::vector<store::Answer<void>> releases_;
  bool dropped_ = false;
};

std::unique_ptr<Held> make_held(std::shared_ptr<Common> common, Keeper keeper);

}  // namespace evenkeel::locks::detail
