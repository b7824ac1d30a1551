#include "evenkeel/store/backends/open.h"

#include <fmt/ranges.h>

#include "evenkeel/base/address.h"
#include "evenkeel/base/text.h"
#include "evenkeel/store/backends/embedded/local.h"
#include "evenkeel/store/backends/etcd/client.h"
#include "evenkeel/store/backends/zookeeper/client.h"
#include "evenkeel/store/memory/memory.h"

namespace evenkeel::store {
namespace {

constexpr std::string_view forms =
    "memory:, embedded:DIR, etcd://HOST:PORT,…/PREFIX, etcds://… for TLS, or zk://HOST:PORT,…/PATH";

// A memory store with a world of which it is the only client.
class OwnWorld final : public Store {
 public:
  explicit OwnWorld(Loop& loop) : Store(loop), world_(loop), store_(world_.connect()) {}

 protected:
  void do_get(std::string key, Answer<Read> answer) override { store_->get(std::move(key), std::move(answer)); }
  void do_list(std::string prefix, Answer<Listing> answer) override { store_->list(std::move(prefix), std::move(answer)); }
  void do_txn(Txn txn, Answer<Committed> answer) override { store_->txn(std::move(txn), std::move(answer)); }
  std::unique_ptr<Watching> do_watch(std::string prefix, std::optional<Revision> after, OnChanges on_changes) override {
    return store_->watch(std::move(prefix), after, std::move(on_changes));
  }
  void do_status(Answer<Status> answer) override { store_->status(std::move(answer)); }
  void do_compact(Revision before, Answer<Revision> answer) override { store_->compact(before, std::move(answer)); }

 private:
  World world_;
  std::unique_ptr<Store> store_;
};

Result<Url> parse_servers(std::string_view scheme, std::string_view rest, std::string_view text) {
  Url url{std::string(scheme), {}, {}};
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view hosts = rest.substr(0, slash);
  url.path = std::string(rest.substr(slash));
  if (hosts.find('@') != std::string_view::npos)
    return fail(Code::invalid,
                "a store's URL has no user or password, since process lists show it; give them by file or environment");
  while (true) {
    const std::size_t comma = std::min(hosts.find(','), hosts.size());
    const auto address = parse_address(hosts.substr(0, comma));
    if (!address) return fail(address.error().in(fmt::format("store {}", quote(text))));
    if (address->port == 0 && address->path.empty())
      return fail(Code::invalid, "store {}: {} needs a port", quote(text), format(*address));
    url.endpoints.push_back(format(*address));
    if (comma == hosts.size()) break;
    hosts.remove_prefix(comma + 1);
  }
  while (url.path.ends_with('/')) url.path.pop_back();
  if (!url.path.empty()) {
    if (const auto good = check_key(url.path); !good) return fail(good.error().in(fmt::format("store {}", quote(text))));
  }
  return url;
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  if (text == "memory:") return Url{"memory", {}, {}};
  constexpr std::string_view embedded = "embedded:";
  if (text.starts_with(embedded)) {
    if (text.size() == embedded.size()) return fail(Code::invalid, "store {} names no folder: embedded:DIR", quote(text));
    return Url{"embedded", {}, std::string(text.substr(embedded.size()))};
  }
  for (const std::string_view scheme : {"etcd", "etcds", "zk"}) {
    const std::string start = fmt::format("{}://", scheme);
    if (text.starts_with(start)) return parse_servers(scheme, text.substr(start.size()), text);
  }
  return fail(Code::invalid, "{} is no store: it is {}", quote(text), forms);
}

std::string format(const Url& url) {
  if (url.scheme == "memory") return "memory:";
  if (url.scheme == "embedded") return "embedded:" + url.path;
  return fmt::format("{}://{}{}", url.scheme, fmt::join(url.endpoints, ","), url.path);
}

Result<std::unique_ptr<Store>> open(Loop& loop, const Url& url, const OpenOptions& options) {
  if (url.scheme == "memory") return std::make_unique<OwnWorld>(loop);
  if (url.scheme == "etcd" || url.scheme == "etcds") return etcd::connect(loop, url, options);
  if (url.scheme == "zk") return zookeeper::connect(loop, url, options);
  auto engine = embedded::Engine::open(url.path, {.log = options.log});
  if (!engine) return fail(std::move(engine).error());
  return embedded::make_local(loop, *std::move(engine), options.lease_ttl);
}

Result<std::unique_ptr<Store>> open(Loop& loop, std::string_view url, const OpenOptions& options) {
  const auto parsed = parse_url(url);
  if (!parsed) return fail(parsed.error());
  return open(loop, *parsed, options);
}

}  // namespace evenkeel::store
