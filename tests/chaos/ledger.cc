// A service for tests that kill it: one process is one node. Each shard is a number that its leader adds one to, again and again, with nobody
// asking; and whatever it does it says to a witness, who knows what must not be.
//
//   ledger --name n1 --zone z1 --data DIR --world DIR --store URL --cluster NAME [--ttl 2s] [--acks 2] [--every 250ms] [--asks yes]
//
// In the folder `world` are the sockets: `witness`, a stream of lines to the witness, and `NAME.peer` for datagrams among nodes. Who has a file `NAME.cut` there is
// cut off from its peers: no datagram goes there or comes from there. What is said to the witness:
//
//   h NAME PID                        first of all
//   s SHARD EPOCH TIME                it was sealed for that epoch: from now on it takes nothing of an older one
//   g SHARD EPOCH TIME POSITION       it leads from now on, and its data goes so far
//   w SHARD EPOCH TIME                may_lead was asked after that time, and said yes: it writes
//   a SHARD EPOCH TIME POSITION       enough copies have it, may_lead was asked again after that time: it is acknowledged
//
// An epoch's `g` comes before its first `w` or `a`, and all that a process says goes through one connection: the witness relies on it.
// With `--asks no` it never asks may_lead: then the witness has something to find.
// Times are of the clock that goes on while the host sleeps, in nanoseconds. What is written down outlives the process, not the host: it is not synced.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "evenkeel/base/text.h"
#include "evenkeel/node/node.h"
#include "evenkeel/store/backends/open.h"
#include "tests/chaos/clock.h"

namespace evenkeel {
namespace {

[[noreturn]] void give_up(const std::string& what) {
  fmt::print(stderr, "ledger: {}: {}\n", what, std::strerror(errno));
  std::_Exit(3);
}

sockaddr_un path_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error(path + " is too long for a socket");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}
const sockaddr* plain(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

// Few letters fit what a peer has not taken yet; but one that stands still is not waited for.
void wait_for_peers(int socket) {
  const timeval patience{.tv_sec = 0, .tv_usec = 20'000};
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

// What is said to the witness. A process whose witness is gone ends.
class Witness {
 public:
  explicit Witness(const std::string& path) : socket_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    const sockaddr_un address = path_of(path);
    if (socket_ < 0 || connect(socket_, plain(address), sizeof address) != 0) give_up(path);
  }
  void say(const std::string& lines) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t done = 0; done < lines.size();) {
      const ssize_t sent = send(socket_, lines.data() + done, lines.size() - done, MSG_NOSIGNAL);
      if (sent < 0) give_up("the witness");
      done += static_cast<std::size_t>(sent);
    }
  }

 private:
  int socket_;
  std::mutex mutex_;
};

struct Data {
  std::uint64_t last = 0;      // epoch of the leader who wrote it
  std::uint64_t position = 0;  // how many adds there were
  friend auto operator<=>(const Data&, const Data&) = default;
};

// What is on disk of a shard: one write, at a place of its own, so that a kill leaves the old or the new.
struct Slot {
  std::uint64_t held = 0;
  std::uint64_t epoch = 0, change = 0, refuses = 0;
  Data data;
  std::array<std::uint64_t, 2> spare = {};
};
static_assert(sizeof(Slot) == 64);

// A datagram: what a leader sends, or what a follower has taken, of many shards at once; or one copy, asked for or given.
enum class Kind : std::uint32_t { take, taken, ask, copy };
struct Entry {
  std::uint64_t shard = 0;
  Data data;
};
struct Letter {
  static constexpr std::size_t entries_max = 1000;
  Kind kind = Kind::take;
  std::uint32_t count = 0;
  std::uint64_t number = 0;  // of what was asked: its answer has the same
  std::array<char, 32> from = {};
  std::array<Entry, entries_max> entries;  // of which `count` say something
  std::size_t bytes() const { return sizeof(Letter) - (entries_max - count) * sizeof(Entry); }
  void add(const Entry& entry) { entries.at(count++) = entry; }
};

// Where a thread gets answers. A file, as names that the kernel finds are known only in one network namespace, and hosts.py has one for each node.
class Mailbox {
 public:
  explicit Mailbox(std::string path) : path_(std::move(path)), socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un here = path_of(path_);
    unlink(path_.c_str());
    if (socket_ < 0 || bind(socket_, plain(here), sizeof here) != 0) give_up(path_);
    wait_for_peers(socket_);
  }
  ~Mailbox() {
    unlink(path_.c_str());
    close(socket_);
  }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  int end() const { return socket_; }

 private:
  const std::string path_;
  const int socket_;
};

class Ledger final : public node::ShardHandler {
 public:
  struct Options {
    std::string name, data, world;
    std::uint64_t acks = 2;
    Duration every = 250ms;
    bool asks = true;
  };
  explicit Ledger(Options options) : options_(std::move(options)), witness_(options_.world + "/witness") {
    const std::string file = options_.data + "/ledger";
    file_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0) give_up(file);
    witness_.say(fmt::format("h {} {}\n", options_.name, getpid()));
  }
  // Adds are made from now on.
  void begin(node::Node& node) {
    node_ = &node;
    threads_[0] = std::jthread([this](const std::stop_token& stop) { hear(stop); });
    if (options_.every > Duration{}) threads_[1] = std::jthread([this](const std::stop_token& stop) { add(stop); });
  }
  void end() {
    for (std::jthread& thread : threads_) thread.request_stop();
    for (std::jthread& thread : threads_)
      if (thread.joinable()) thread.join();
    node_ = nullptr;
  }

  // What the cluster asks.

  Result<> transition(const node::Transition& t, std::stop_token stop) override {
    const std::uint64_t shard = t.shard.shard.value();
    std::unique_lock lock(mutex_);
    meet_peers();
    if (t.to.str() == state_dropped) {
      replicas_.erase(shard);
      write(shard, Slot{});
      return {};
    }
    Replica& replica = replicas_[shard];
    replica.version = t.version;
    replica.refuses = std::max(replica.refuses, t.version.epoch.value());
    replica.leads = t.to.str() == "leader";
    replica.led = t.from.str() == "leader" && !replica.leads;
    replica.followers.clear();
    for (const Peer& peer : t.peers)
      if (peer.state.str() == "follower") replica.followers.insert(peer.node.str());
    if (replica.leads) return lead(shard, replica, t.from.str() != "leader");
    save(shard, replica);
    if (!t.copy_from) return {};
    lock.unlock();  // what the leader sends meanwhile is taken
    const auto copy = ask_copy(shard, t.copy_from->str(), stop);
    if (!copy) return fail(copy.error());
    lock.lock();
    replica.data = std::max(replica.data, *copy);  // its own transitions come one after the other, so it is still there
    save(shard, replica);
    return {};
  }
  Sealed seal(const ShardId& shard, Epoch epoch) override {
    const std::scoped_lock lock(mutex_);
    meet_peers();
    Replica& replica = replicas_[shard.shard.value()];
    replica.refuses = std::max(replica.refuses, epoch.value());
    save(shard.shard.value(), replica);
    witness_.say(fmt::format("s {} {} {}\n", shard.shard, epoch, now()));
    return {Epoch(replica.refuses), Epoch(replica.data.last), replica.data.position};
  }
  node::Status report(const ShardId& shard) override {
    const std::scoped_lock lock(mutex_);
    const auto found = replicas_.find(shard.shard.value());
    if (found == replicas_.end()) return {};
    return {.last = Epoch(found->second.data.last), .progress = found->second.data.position};
  }
  // From disk: another process of this name may have had it meanwhile.
  std::vector<node::Held> inventory() override {
    const std::scoped_lock lock(mutex_);
    replicas_.clear();
    std::vector<node::Held> held;
    Slot slot;
    for (std::uint64_t i = 0; pread(file_, &slot, sizeof slot, static_cast<off_t>(i * sizeof slot)) == sizeof slot; ++i) {
      if (slot.held == 0) continue;
      const Version version{Epoch(slot.epoch), Change(slot.change)};
      replicas_[i] = {.version = version, .refuses = slot.refuses, .data = slot.data};
      held.push_back({{workload, ShardIndex(static_cast<std::uint32_t>(i))},
                      version,
                      Epoch(slot.data.last),
                      slot.data.position,
                      Epoch(slot.refuses)});
    }
    return held;
  }

  inline static const WorkloadId workload{"ledger"};

 private:
  struct Replica {
    Version version = {};
    std::uint64_t refuses = 0;
    Data data = {};
    bool leads = false;
    bool led = false;                      // and whoever follows is still to get the last of it
    std::set<std::string> followers = {};  // as the latest transition named them
    std::set<std::string> copies = {};     // who has what was added last
    bool acknowledged = true;
  };

  // Takes the socket of this name, when what we are told shows that the name is ours; again if another process of the name had it meanwhile. Not when
  // we step down because it is ours no more. The socket before is left as it is: somebody may just wait at it.
  void meet_peers() {
    const std::string path = options_.world + "/" + options_.name + ".peer";
    const node::Node* node = node_;
    if (node != nullptr && !node->is_current()) return;
    struct stat there {};
    if (socket_ >= 0 && stat(path.c_str(), &there) == 0 && there.st_ino == bound_) return;
    unlink(path.c_str());
    const int fresh = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = path_of(path);
    if (bind(fresh, plain(address), sizeof address) != 0) give_up(path);
    if (stat(path.c_str(), &there) != 0) give_up(path);
    bound_ = there.st_ino;
    wait_for_peers(fresh);
    socket_ = fresh;
  }

  // Whoever begins to lead says so, also at an epoch that it has led at before: a grant always raises the epoch, and the witness is to notice one that does not.
  // Only a leader that is told of new peers was given nothing.
  Result<> lead(std::uint64_t shard, Replica& replica, bool begins) {
    const std::uint64_t epoch = replica.version.epoch.value();
    if (begins || replica.data.last != epoch)
      witness_.say(fmt::format("g {} {} {} {}\n", shard, epoch, now(), replica.data.position));
    replica.data.last = epoch;
    save(shard, replica);
    return {};
  }
  bool may_lead(std::uint64_t shard, const Replica& replica) const {
    const node::Node* node = node_;
    if (!options_.asks) return replica.leads;
    return replica.leads && node != nullptr &&
           node->may_lead({workload, ShardIndex(static_cast<std::uint32_t>(shard))}, Epoch(replica.data.last));
  }

  // What a leader does, round after round: one more for each shard, and to each peer what it follows. One that has stepped down sends the last of it until
  // somebody else leads.
  void add(const std::stop_token& stop) {
    std::condition_variable_any round;
    std::mutex alone;
    std::unique_lock waiting(alone);
    while (!stop.stop_requested()) {
      round.wait_for(waiting, stop, options_.every, [] { return false; });
      std::map<std::string, Letter> letters;
      std::string said;
      {
        const std::scoped_lock lock(mutex_);
        for (auto& [shard, replica] : replicas_) {
          if (replica.led)
            for (const std::string& peer : replica.followers) add_to(letters, peer, {shard, replica.data});
          const std::int64_t before = now();
          if (!may_lead(shard, replica)) continue;
          said += fmt::format("w {} {} {}\n", shard, replica.data.last, before);
          ++replica.data.position;
          replica.copies.clear();
          replica.acknowledged = false;
          save(shard, replica);
          for (const std::string& peer : replica.followers) add_to(letters, peer, {shard, replica.data});
        }
      }
      witness_.say(said);
      for (auto& [peer, letter] : letters) post(letter, peer);
    }
  }
  void add_to(std::map<std::string, Letter>& letters, const std::string& peer, const Entry& entry) {
    Letter& letter = letters[peer];
    letter.add(entry);
    if (letter.count == Letter::entries_max) {
      post(letter, peer);
      letter.count = 0;
    }
  }

  bool is_cut(const std::string& peer) const {
    const auto cut = [&](const std::string& name) { return access((options_.world + "/" + name + ".cut").c_str(), F_OK) == 0; };
    return cut(options_.name) || cut(peer);
  }

  // What is lost is sent again in the next round.
  void post(Letter& letter, const std::string& to) {
    if (letter.count == 0 || is_cut(to)) return;
    std::copy_n(options_.name.begin(), std::min(options_.name.size(), letter.from.size() - 1), letter.from.begin());
    const sockaddr_un address = path_of(options_.world + "/" + to + ".peer");
    (void)sendto(socket_, &letter, letter.bytes(), MSG_NOSIGNAL, plain(address), sizeof address);
  }

  void hear(const std::stop_token& stop) {
    Letter letter;
    while (!stop.stop_requested()) {
      const int here = socket_;
      pollfd readable{.fd = here, .events = POLLIN, .revents = 0};
      if (poll(&readable, 1, 100) <= 0) continue;
      sockaddr_un from{};
      socklen_t size = sizeof from;
      const ssize_t got = recvfrom(here, &letter, sizeof letter, 0, reinterpret_cast<sockaddr*>(&from), &size);
      if (got < 0 || letter.count > Letter::entries_max || static_cast<std::size_t>(got) != letter.bytes()) continue;
      if (letter.kind == Kind::take) take(letter);
      if (letter.kind == Kind::taken) count(letter);
      if (letter.kind == Kind::ask) give(letter, from, size);
    }
  }
  // A follower takes nothing of an older epoch than it was sealed for.
  void take(const Letter& letter) {
    Letter answer{.kind = Kind::taken};
    {
      const std::scoped_lock lock(mutex_);
      for (std::uint32_t i = 0; i < letter.count; ++i) {
        const Entry& entry = letter.entries.at(i);
        const auto found = replicas_.find(entry.shard);
        if (found == replicas_.end() || entry.data.last < found->second.refuses) continue;
        Replica& replica = found->second;
        replica.refuses = entry.data.last;
        replica.led = replica.led && entry.data <= replica.data;
        replica.data = std::max(replica.data, entry.data);
        save(entry.shard, replica);
        answer.add(entry);
      }
    }
    post(answer, letter.from.data());
  }
  void count(const Letter& letter) {
    const std::string from = letter.from.data();
    std::string said;
    const std::scoped_lock lock(mutex_);
    for (std::uint32_t i = 0; i < letter.count; ++i) {
      const auto& [shard, data] = letter.entries.at(i);
      const auto found = replicas_.find(shard);
      if (found == replicas_.end() || found->second.data != data || !found->second.followers.contains(from)) continue;
      Replica& replica = found->second;
      replica.copies.insert(from);
      if (replica.acknowledged || 1 + replica.copies.size() < options_.acks) continue;
      // This process may have stood still since it looked: then it must not confirm.
      const std::int64_t before = now();
      if (!may_lead(shard, replica)) continue;
      replica.acknowledged = true;
      said += fmt::format("a {} {} {} {}\n", shard, data.last, before, data.position);
    }
    witness_.say(said);
  }

  void give(const Letter& asked, const sockaddr_un& to, socklen_t size) {
    if (asked.count != 1) return;
    Letter answer{.kind = Kind::copy, .number = asked.number};
    {
      const std::scoped_lock lock(mutex_);
      const auto found = replicas_.find(asked.entries[0].shard);
      if (found == replicas_.end()) return;
      answer.add({asked.entries[0].shard, found->second.data});
    }
    (void)sendto(socket_, &answer, answer.bytes(), MSG_NOSIGNAL, plain(to), size);
  }
  // What was asked twice is answered twice, and the later answer is nobody's.
  Result<Data> ask_copy(std::uint64_t shard, const std::string& from, const std::stop_token& stop) const {
    thread_local const Mailbox own(fmt::format("{}/{}.{}.{}.copy", options_.world, options_.name, getpid(), mailboxes_++));
    Letter letter{.kind = Kind::ask, .number = ++asked_};
    letter.add({shard, {}});
    Letter answer;
    const sockaddr_un to = path_of(options_.world + "/" + from + ".peer");
    constexpr int tries = 20;
    for (int i = 0; i < tries && !stop.stop_requested() && !is_cut(from); ++i) {
      if (sendto(own.end(), &letter, letter.bytes(), MSG_NOSIGNAL, plain(to), sizeof to) < 0 && errno != EAGAIN) break;
      pollfd readable{.fd = own.end(), .events = POLLIN, .revents = 0};
      while (poll(&readable, 1, 100) > 0) {
        const bool came = recv(own.end(), &answer, sizeof answer, 0) > 0 && answer.kind == Kind::copy && answer.count == 1;
        if (came && answer.number == letter.number) return answer.entries[0].data;
      }
    }
    return fail(Code::unavailable, "{} gives no copy", from);
  }

  void save(std::uint64_t shard, const Replica& replica) const {
    write(shard, {.held = 1,
                  .epoch = replica.version.epoch.value(),
                  .change = replica.version.change.value(),
                  .refuses = replica.refuses,
                  .data = replica.data});
  }
  void write(std::uint64_t shard, const Slot& slot) const {
    if (pwrite(file_, &slot, sizeof slot, static_cast<off_t>(shard * sizeof slot)) != sizeof slot) give_up("the ledger");
  }

  const Options options_;
  Witness witness_;
  int file_ = -1;
  std::atomic<int> socket_ = -1;
  ino_t bound_ = 0;
  mutable std::atomic<std::uint64_t> asked_ = 0, mailboxes_ = 0;
  std::atomic<node::Node*> node_ = nullptr;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Replica> replicas_;
  std::array<std::jthread, 2> threads_;
};

int run(std::map<std::string, std::string> flags, const sigset_t& signals) {
  const auto ttl = parse_duration(flags["ttl"]);
  const auto every = parse_duration(flags["every"]);
  const auto acks = parse_unsigned(flags["acks"]);
  if (!ttl || !every || !acks) return fmt::print(stderr, "ledger: --ttl and --every are times, --acks a number\n"), 2;
  std::filesystem::create_directories(flags["data"]);
  Ledger ledger({flags["name"], flags["data"], flags["world"], *acks, *every, flags["asks"] != "no"});
  Log log = Log::to_stderr({});
  auto node = node::Node::join({.store = flags["store"],
                                .cluster = ClusterId(flags["cluster"]),
                                .name = NodeId(flags["name"]),
                                .address = flags["name"],
                                .zone = flags["zone"],
                                .data = flags["data"],
                                .session_ttl = *ttl,
                                .log = &log},
                               ledger);
  if (!node) return fmt::print(stderr, "ledger: {}\n", node.error().message), 1;
  ledger.begin(**node);
  int signal = 0;
  sigwait(&signals, &signal);
  const auto left = (*node)->leave(10s);
  if (!left) fmt::print(stderr, "ledger: {}\n", left.error().message);
  ledger.end();
  return 0;
}

}  // namespace
}  // namespace evenkeel

int main(int count, char** arguments) {
  std::map<std::string, std::string> flags{{"ttl", "2s"}, {"acks", "2"},         {"every", "250ms"}, {"asks", "yes"},
                                           {"zone", ""},  {"name", ""},          {"data", ""},       {"world", ""},
                                           {"store", ""}, {"cluster", "default"}};
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string word = arguments[i];
    const auto flag = word.starts_with("--") ? flags.find(word.substr(2)) : flags.end();
    if (flag == flags.end()) return fmt::print(stderr, "ledger: what is {}?\n", word), 2;
    flag->second = arguments[i + 1];
  }
  // Blocked in all threads, and waited for where the program waits.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return evenkeel::run(std::move(flags), signals);
}
