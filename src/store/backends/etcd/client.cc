#include "evenkeel/store/backends/etcd/client.h"

#include <utility>

#include "evenkeel/store/backends/etcd/detail/core.h"
#include "evenkeel/store/backends/etcd/detail/lease.h"
#include "evenkeel/store/backends/etcd/detail/watch.h"

namespace evenkeel::store::etcd {
namespace {

using namespace detail;

// A txn whose lease the server does not know was not done: it is sent again with another, so often.
constexpr int leases_max = 3;

class Handle final : public Watching {
 public:
  explicit Handle(std::shared_ptr<Watch> watch) : watch_(std::move(watch)) {}
  ~Handle() override { watch_->close(); }

 private:
  std::shared_ptr<Watch> watch_;
};

class Client final : public Store {
 public:
  Client(Loop& loop, const Url& url, std::vector<Endpoint> endpoints, const OpenOptions& options)
      : Store(loop), core_(loop, url, std::move(endpoints), options), lease_(core_, options.lease_ttl) {
    core_.endpoints.on_stuck([this](Endpoint& endpoint) {
      for (const auto& [_, watch] : std::unordered_map(core_.watches)) {
        if (const auto open = watch.lock()) open->leave(endpoint);
      }
    });
  }
  ~Client() override {
    while (!core_.watches.empty()) {
      if (const auto open = core_.watches.begin()->second.lock()) {
        open->close();
      } else {
        core_.watches.erase(core_.watches.begin());
      }
    }
  }

 protected:
  void do_get(std::string key, Answer<Read> answer) override;
  void do_list(std::string prefix, Answer<Listing> answer) override { list_all(core_, std::move(prefix), std::move(answer)); }
  void do_txn(Txn txn, Answer<Committed> answer) override {
    if (has_ephemeral(txn)) return send_with_lease(std::move(txn), std::move(answer), core_.deadline(), leases_max);
    send(txn, 0, core_.deadline(), std::move(answer));
  }
  std::unique_ptr<Watching> do_watch(std::string prefix, std::optional<Revision> after, OnChanges on_changes) override {
    auto watch = std::make_shared<Watch>(core_, std::move(prefix), after, std::move(on_changes));
    watch->start();
    return std::make_unique<Handle>(std::move(watch));
  }
  void do_status(Answer<Status> answer) override { ask_status(core_, std::move(answer)); }
  void do_compact(Revision before, Answer<Revision> answer) override;

 private:
  void send(const Txn& txn, std::int64_t lease, Instant deadline, Answer<Committed> answer);
  void send_with_lease(Txn txn, Answer<Committed> answer, Instant deadline, int leases_left);

  Core core_;
  Lease lease_;
};

void Client::do_get(std::string key, Answer<Read> answer) {
  using Found = etcdserverpb::RangeResponse;
  etcdserverpb::RangeRequest request;
  request.set_key(core_.keys.full(key));
  core_.caller.call<Found>(methods::range, std::move(request), core_.deadline(),
                           [this, answer = std::move(answer)](Result<Found> found) mutable {
                             if (!found) return answer(fail(std::move(found).error()));
                             Read read{.entry = {}, .revision = Revision(found->header().revision())};
                             if (found->kvs_size() > 0) read.entry = entry_of(*found->mutable_kvs(0), core_.keys);
                             answer(std::move(read));
                           });
}

void Client::send(const Txn& txn, std::int64_t lease, Instant deadline, Answer<Committed> answer) {
  using Done = etcdserverpb::TxnResponse;
  Method method = methods::txn;
  if (!writes(txn)) method.effect = Effect::none;
  core_.caller.call<Done>(method, request_of(txn, core_.keys, lease), deadline,
                          [answer = std::move(answer)](Result<Done> done) mutable {
                            if (!done) return answer(fail(std::move(done).error()));
                            answer(Committed{done->succeeded(), Revision(done->header().revision())});
                          });
}

void Client::send_with_lease(Txn txn, Answer<Committed> answer, Instant deadline, int leases_left) {
  lease_.with(
      [this, txn = std::move(txn), answer = std::move(answer), deadline, leases_left](Result<std::int64_t> lease) mutable {
        if (!lease) {
          // The txn itself was not sent.
          Error error = std::move(lease).error();
          if (error.code == Code::unknown_outcome) error.code = Code::unavailable;
          return answer(fail(std::move(error)));
        }
        const auto shared = std::make_shared<Txn>(std::move(txn));
        send(*shared, *lease, deadline,
             [this, shared, answer = std::move(answer), deadline, leases_left, id = *lease](Result<Committed> done) mutable {
               if (done || done.error().code != Code::not_found) return answer(std::move(done));
               lease_.lost(id);
               if (leases_left > 1) return send_with_lease(std::move(*shared), std::move(answer), deadline, leases_left - 1);
               answer(fail(Code::unavailable, "{}", done.error().message));
             });
      });
}

void Client::do_compact(Revision before, Answer<Revision> answer) {
  using Done = etcdserverpb::CompactionResponse;
  etcdserverpb::CompactionRequest request;
  request.set_revision(before.value());
  core_.caller.call<Done>(methods::compact, request, core_.deadline(),
                          [before, answer = std::move(answer)](Result<Done> done) mutable {
                            // Forgotten already: as it should be.
                            if (done || done.error().code == Code::conflict) return answer(before);
                            answer(fail(std::move(done).error()));
                          });
}

}  // namespace

Result<std::unique_ptr<Store>> connect(Loop& loop, const Url& url, const OpenOptions& options) {
  if (options.timeout <= Duration{} || options.lease_ttl <= Duration{})
    return fail(Code::invalid, "a store's timeout and the time of its leases are more than nothing");
  auto endpoints = Endpoints::open(url, options);
  if (!endpoints) return fail(std::move(endpoints).error());
  return std::make_unique<Client>(loop, url, *std::move(endpoints), options);
}

}  // namespace evenkeel::store::etcd
