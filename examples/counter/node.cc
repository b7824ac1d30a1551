// Counters as a real service: each process is a node, and HTTP is the network. CMakeLists.txt beside this builds it on its own. `make run` starts six
// of them; docs/quick-start.md shows what to do with those.
//
//   counter --name n1 --data DIR [--zone z1] [--listen 127.0.0.1:0] [--acks 2] [--ttl 3s] [--store URL] [--cluster NAME]
//   counter client …                  see client.cc
//
// A shard is a number. Its leader adds to it, sends the whole number with its epoch to the followers, and acknowledges what `acks` copies have.
//
//   POST /add/WORKLOAD/SHARD?by=N     200 and the new value; 409: not the leader, nothing is done; 503: neither done nor failed
//   GET  /value/WORKLOAD/SHARD        200, or 409
//   POST /take/…, GET /copy/…         among nodes

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

#include "counter.h"

#include <evenkeel/base/address.h>
#include <evenkeel/base/file.h>
#include <evenkeel/base/text.h>
#include <evenkeel/node/node.h>

namespace counter {
namespace {

struct Data {
  Epoch last;                  // of the leader who wrote it
  std::uint64_t position = 0;  // how many adds there were
  std::uint64_t value = 0;
  friend auto operator<=>(const Data&, const Data&) = default;  // a later leader's counts, whatever its position
};
std::string format(const Data& data) { return fmt::format("{} {} {}", data.last, data.position, data.value); }
std::istream& operator>>(std::istream& in, Data& data) {
  std::uint64_t last = 0;
  in >> last >> data.position >> data.value;
  data.last = Epoch(last);
  return in;
}

class Counters final : public node::ShardHandler {
 public:
  Counters(const Routes& routes, std::string folder, std::size_t acks)
      : routes_(routes), folder_(std::move(folder)), acks_(acks) {}
  void joined(node::Node* node) { node_ = node; }

  // What the cluster asks.

  Result<> transition(const node::Transition& t, std::stop_token) override {
    std::unique_lock lock(mutex_);
    if (t.to.str() == state_dropped) {
      std::error_code trouble;
      std::filesystem::remove(file_of(t.shard), trouble);
      if (trouble) return fail(Code::unavailable, "{}: {}", file_of(t.shard), trouble.message());
      replicas_.erase(t.shard);
      return {};
    }
    if (t.parent) return fail(Code::refused, "a counter is one number: it cannot be split into two");
    Replica& replica = replicas_[t.shard];
    replica.version = t.version;
    replica.refuses = std::max(replica.refuses, t.version.epoch);
    replica.peers = t.peers;
    if (t.to.str() == "leader") replica.data.last = t.version.epoch;
    if (t.to.str() == "leader" || !t.copy_from) return save(t.shard, replica);
    lock.unlock();  // what the leader sends meanwhile is taken
    const auto copy = ask_copy(t.shard, *t.copy_from);
    if (!copy) return fail(copy.error());
    lock.lock();
    replica.data = std::max(replica.data, *copy);  // its own transitions come one after the other, so it is still there
    return save(t.shard, replica);
  }
  // Nothing of an older epoch is taken from now on, also after a restart.
  Sealed seal(const ShardId& shard, Epoch epoch) override {
    const std::unique_lock lock(mutex_);
    Replica& replica = replicas_[shard];
    replica.refuses = std::max(replica.refuses, epoch);
    if (const auto saved = save(shard, replica); !saved) throw std::runtime_error(saved.error().message);
    return {replica.refuses, replica.data.last, replica.data.position};
  }
  // The load is in adds a second.
  node::Status report(const ShardId& shard) override {
    const std::unique_lock lock(mutex_);
    Replica* r = find(shard);
    if (r == nullptr) return {};
    const auto passed = std::chrono::steady_clock::now() - r->measured;
    if (passed >= 1s) {
      const std::uint64_t adds = r->data.position - std::min(r->data.position, r->measured_at);
      r->rate = Quantity::from_nano(Int128{adds} * Quantity::billion * (1s / 1ns) / passed.count());
      r->measured += passed;
      r->measured_at = r->data.position;
    }
    return {.last = r->data.last, .progress = r->data.position, .load = {{ResourceId("adds"), r->rate}}};
  }
  // Here the folder is ours, and not before.
  std::vector<node::Held> inventory() override {
    const std::unique_lock lock(mutex_);
    for (const auto& file : std::filesystem::directory_iterator(folder_))
      if (file.path().extension() == ".counter") load(file.path());
    std::vector<node::Held> held;
    for (const auto& [shard, r] : replicas_) held.push_back({shard, r.version, r.data.last, r.data.position, r.refuses});
    return held;
  }

  // What clients ask.

  std::pair<int, std::string> add(const ShardId& shard, std::uint64_t by) {
    std::unique_lock lock(mutex_);
    Replica* replica = led(shard);
    if (replica == nullptr) return {not_the_leader, "not the leader"};
    ++replica->data.position;
    replica->data.value += by;
    if (const auto saved = save(shard, *replica); !saved) return {unknown, saved.error().message};
    const Data sent = replica->data;
    const std::vector<Peer> peers = replica->peers;
    lock.unlock();
    std::size_t copies = 1;
    for (const Peer& peer : peers) copies += send(shard, sent, peer.node) && peer.state.str() == "follower" ? 1 : 0;
    if (copies < acks_) return {unknown, fmt::format("{} of {} copies have it", copies, acks_)};
    // This process may have stood still since it looked: then it must not confirm.
    if (!node_.load()->may_lead(shard, sent.last)) return {unknown, "no longer the leader"};
    return {done, std::to_string(sent.value)};
  }
  // It may be ahead of what is acknowledged.
  std::pair<int, std::string> value(const ShardId& shard) {
    const std::unique_lock lock(mutex_);
    const Replica* replica = led(shard);
    if (replica == nullptr) return {not_the_leader, "not the leader"};
    return {done, std::to_string(replica->data.value)};
  }

  // What peers ask.

  std::pair<int, std::string> take(const ShardId& shard, const Data& data) {
    const std::unique_lock lock(mutex_);
    Replica* replica = find(shard);
    if (replica == nullptr) return {not_the_leader, "not here"};
    if (data.last < replica->refuses) return {refused, fmt::format("{}", replica->refuses)};
    if (data <= replica->data) return {done, ""};  // a later one was quicker
    replica->refuses = data.last;
    replica->data = data;
    const auto saved = save(shard, *replica);
    return saved ? std::pair(done, std::string()) : std::pair(unknown, saved.error().message);
  }
  std::pair<int, std::string> copy(const ShardId& shard) {
    const std::unique_lock lock(mutex_);
    const Replica* replica = find(shard);
    return replica == nullptr ? std::pair(404, std::string("not here")) : std::pair(done, format(replica->data));
  }

 private:
  struct Replica {
    Version version = {};
    Epoch refuses = {};  // what is older
    Data data = {};
    std::vector<Peer> peers = {};
    std::chrono::steady_clock::time_point measured = std::chrono::steady_clock::now();
    std::uint64_t measured_at = 0;
    Quantity rate = {};
  };

  Replica* find(const ShardId& shard) {
    const auto found = replicas_.find(shard);
    return found == replicas_.end() ? nullptr : &found->second;
  }
  // Nothing: this node does not lead it, or not any more.
  Replica* led(const ShardId& shard) {
    Replica* replica = find(shard);
    const node::Node* node = node_;
    return replica != nullptr && node != nullptr && node->may_lead(shard, replica->data.last) ? replica : nullptr;
  }
  bool send(const ShardId& shard, const Data& data, const NodeId& to) const {
    const auto table = routes_.table();
    const route::Endpoint* peer = table->endpoint(to);
    if (peer == nullptr) return false;
    const auto answer = connect(peer->address).Post("/take/" + format(shard), format(data), "text/plain");
    // It knows of a later leader, perhaps before this node does.
    if (answer && answer->status == refused) node_.load()->refused(shard, Epoch(parse_unsigned(answer->body).value_or(0)));
    return answer && answer->status == done;
  }
  Result<Data> ask_copy(const ShardId& shard, const NodeId& from) const {
    const auto table = routes_.table();
    const route::Endpoint* peer = table->endpoint(from);
    if (peer == nullptr) return fail(Code::unavailable, "nobody knows where {} is", from);
    const auto answer = connect(peer->address).Get("/copy/" + format(shard));
    if (!answer || answer->status != done) return fail(Code::unavailable, "{} gives no copy", from);
    std::istringstream in(answer->body);
    if (Data data; in >> data) return data;
    return fail(Code::invalid, "{} gives a copy that nobody can read", from);
  }

  // A file for each shard, written before anybody is told.
  std::string file_of(const ShardId& shard) const {
    return fmt::format("{}/{}.{}.counter", folder_, shard.workload, shard.shard);
  }
  Result<> save(const ShardId& shard, const Replica& r) const {
    return replace_file(file_of(shard), fmt::format("{} {} {} {} {}\n", format(shard), r.version.epoch, r.version.change,
                                                    r.refuses, format(r.data)));
  }
  // Who cannot read one does not join. To say that there is nothing could lose what was acknowledged: others would count it out.
  void load(const std::string& file) {
    const auto text = read_file(file, Bytes(1 << 10));
    if (!text) throw std::runtime_error(text.error().message);
    std::istringstream in(*text);
    std::string name;
    std::uint64_t epoch = 0, change = 0, refuses = 0;
    Data data;
    in >> name >> epoch >> change >> refuses >> data;
    const auto shard = parse_shard_id(name);
    if (!in || !shard)
      throw std::runtime_error(file + " is no counter: put it back as it was, or remove it if other nodes have copies");
    replicas_[*shard] = {.version = {Epoch(epoch), Change(change)}, .refuses = Epoch(refuses), .data = data};
  }

  const Routes& routes_;
  const std::string folder_;
  const std::size_t acks_;
  std::atomic<node::Node*> node_ = nullptr;
  std::mutex mutex_;
  std::map<ShardId, Replica> replicas_;
};

// What is asked, by path; the shard is the rest of it.
void answer(httplib::Server& server, Counters& counters) {
  using Request = httplib::Request;
  const auto on = [](auto work) {
    return [work](const Request& request, httplib::Response& response) {
      const auto shard = parse_shard_id(request.matches[1].str());
      const auto [status, text] = shard ? work(*shard, request) : std::pair(wrong, shard.error().message);
      response.status = status;
      response.set_content(text + "\n", "text/plain");
    };
  };
  server.Post("/add/(.+)", on([&](const ShardId& shard, const Request& request) {
                const auto by = parse_unsigned(request.get_param_value("by"));
                return by ? counters.add(shard, *by) : std::pair(wrong, "by: " + by.error().message);
              }));
  server.Get("/value/(.+)", on([&](const ShardId& shard, const Request&) { return counters.value(shard); }));
  server.Get("/copy/(.+)", on([&](const ShardId& shard, const Request&) { return counters.copy(shard); }));
  server.Post("/take/(.+)", on([&](const ShardId& shard, const Request& request) {
                Data data;
                std::istringstream in(request.body);
                return in >> data ? counters.take(shard, data) : std::pair(wrong, std::string("EPOCH POSITION VALUE"));
              }));
  // Adds wait for takes of other nodes, which must not wait for adds: there are threads enough for both.
  server.new_task_queue = [] { return new httplib::ThreadPool(64); };
  // Without the library's SO_REUSEPORT, by which two nodes would share a port.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

Result<std::string> listen(httplib::Server& server, const std::string& where) {
  auto address = parse_address(where);
  if (!address) return fail(std::move(address).error().in("--listen"));
  const int bound = address->port == 0                                  ? server.bind_to_any_port(address->host)
                    : server.bind_to_port(address->host, address->port) ? address->port
                                                                        : -1;
  if (bound < 0) return fail(Code::conflict, "cannot listen on {}: is somebody there already?", where);
  address->port = static_cast<std::uint16_t>(bound);
  return format(*address);
}

int serve(Flags flags, const sigset_t& signals) {
  const auto ttl = parse_duration(flags["ttl"]);
  const auto acks = parse_unsigned(flags["acks"]);
  if (flags["name"].empty() || flags["data"].empty() || !ttl || !acks)
    return fail_with({Code::invalid, "--name and --data are needed, --ttl is a time, --acks a number"});
  const ClusterId cluster(flags["cluster"]);
  const auto routes = Routes::open(flags["store"], cluster);
  if (!routes) return fail_with(routes.error());
  std::error_code trouble;
  std::filesystem::create_directories(flags["data"], trouble);
  if (trouble) return fail_with({Code::invalid, flags["data"] + ": " + trouble.message()});
  Counters counters(**routes, flags["data"], *acks);
  httplib::Server server;
  answer(server, counters);
  const auto address = listen(server, flags["listen"]);
  if (!address) return fail_with(address.error());
  std::thread listening([&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();  // a stop before that would be lost
  const auto stop = [&](int status) { return server.stop(), listening.join(), status; };

  Log log = Log::to_stderr({});
  auto node = node::Node::join({.store = flags["store"],
                                .cluster = cluster,
                                .name = NodeId(flags["name"]),
                                .address = *address,
                                .zone = flags["zone"],
                                .data = flags["data"],
                                .session_ttl = *ttl,
                                .log = &log},
                               counters);
  if (!node) return stop(fail_with(node.error()));
  counters.joined(node->get());
  fmt::print("{} listens on {}\n", flags["name"], *address);
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  if (const auto left = (*node)->leave(10s); !left) fmt::print(stderr, "counter: {}\n", left.error().message);
  return stop(0);
}

}  // namespace

int usage() {
  fmt::print(stderr,
             "usage: counter --name NAME --data DIR [--zone ZONE] [--listen HOST:PORT] [--acks N] [--ttl TIME]\n"
             "       counter client add SHARD N | value [SHARD] | load\n"
             "both also take --store URL and --cluster NAME\n");
  return 2;
}

}  // namespace counter

int main(int count, char** arguments) {
  counter::Flags flags{{"store", "etcd://127.0.0.1:2379"},
                       {"cluster", "default"},
                       {"listen", "127.0.0.1:0"},
                       {"acks", "2"},
                       {"ttl", "3s"},
                       {"zone", ""},
                       {"name", ""},
                       {"data", ""}};
  std::vector<std::string> words;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (!word.starts_with("--")) {
      words.push_back(word);
    } else if (const auto flag = flags.find(word.substr(2)); flag != flags.end() && i + 1 < count) {
      flag->second = arguments[++i];
    } else {
      return counter::usage();
    }
  }
  // Blocked in all threads, and waited for where the program waits.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  if (words.empty()) return counter::serve(flags, signals);
  if (words[0] != "client" || words.size() < 2) return counter::usage();
  return counter::run_client({words.begin() + 1, words.end()}, flags, signals);
}
