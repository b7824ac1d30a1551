#pragma once
// World::Client: one client's calls, each of which is answered once: by the server, or by its timeout.

#include <map>
#include <memory>

#include "evenkeel/store/memory/detail/server.h"

namespace evenkeel::store {

class World::Client final : public Store {
 public:
  Client(std::shared_ptr<Server> server, std::string name, Loop& loop);
  ~Client() override;

  // The latest revision it knows of.
  Revision seen() const { return seen_; }
  void saw(Revision revision) { seen_ = std::max(seen_, revision); }

 protected:
  void do_get(std::string key, Answer<Read> answer) override;
  void do_list(std::string prefix, Answer<Listing> answer) override;
  void do_txn(Txn txn, Answer<Committed> answer) override;
  std::unique_ptr<Watching> do_watch(std::string prefix, std::optional<Revision> after, OnChanges on_changes) override;
  void do_status(Answer<Status> answer) override;
  void do_compact(Revision before, Answer<Revision> answer) override;

 private:
  using CallId = std::uint64_t;
  struct Pending {
    virtual ~Pending() = default;
    virtual void give_up(const std::string& client) = 0;
    Instant due;  // it is given up then
  };
  template <class T>
  struct Call;

  // `lost`: what the caller is told if no answer comes.
  template <class T, class Work>
  void call(Code lost, Answer<T> answer, Work work);
  std::unique_ptr<Pending> take(CallId id);
  // One timer for all calls: most are answered long before it is due, and it is set again only for what is left then.
  void arm(Instant due);
  void give_up_late();

  std::shared_ptr<Server> server_;
  std::string name_;
  Server::Owner owner_;
  Revision seen_;
  CallId calls_ = 0;
  std::map<CallId, std::unique_ptr<Pending>> pending_;
  Timer timer_;
  Instant armed_ = Instant::max();
};

}  // namespace evenkeel::store
