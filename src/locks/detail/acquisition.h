#pragma once
// Acquisition: an Acquirer with its store, its observer, its place in the queue and its caller.

#include <stop_token>

#include "evenkeel/locks/detail/driver.h"
#include "evenkeel/locks/detail/turn.h"

namespace evenkeel::locks::detail {

class Acquisition final : public Driver<Acquirer> {
 public:
  using Done = store::Answer<std::unique_ptr<Held>>;

  Acquisition(std::shared_ptr<Common> common, Wish wish, Done done)
      : Driver(std::move(common), Acquirer(wish)), wish_(std::move(wish)), done_(std::move(done)) {}

  void start(bool fair, const std::stop_token& stop);
  void close() override;

 protected:
  void perform(Acquirer::Effects& effects) override;

 private:
  using Stopping = std::stop_callback<std::function<void()>>;

  std::shared_ptr<Acquisition> self() { return std::static_pointer_cast<Acquisition>(shared_from_this()); }
  void listen(const std::stop_token& stop);
  void queue_up();
  void join();
  void begin(std::string queued);
  void observe(const std::string& beat);
  void on_session_lost();
  Error session_is_lost() const;
  void end(Error error);
  void finish(Result<Acquired> acquired);

  Wish wish_;
  Done done_;
  bool begun_ = false;  // else it is still in the queue
  std::shared_ptr<Folder> folder_;
  std::shared_ptr<Folder::Told> following_;
  std::shared_ptr<Common::Lost> losing_;
  std::shared_ptr<Turn> turn_;
  std::shared_ptr<store::Beats> beats_;
  std::unique_ptr<store::Observer> observer_;
  std::unique_ptr<Stopping> stopping_;
  Timer patience_;
  std::shared_ptr<Acquisition> keep_;  // itself, until it is closed
};

}  // namespace evenkeel::locks::detail
