#include "tests/store/backends/servers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace evenkeel::test {
namespace {

// Bounds for servers that are broken, far above what a working one takes on a busy machine.
constexpr Duration start_time_max = 120s;
constexpr Duration answer_time_max = 2s;

std::string http_get(std::string_view path) { return fmt::format("GET {} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n", path); }

}  // namespace

void Servers::wait_ready() {
  for (std::size_t i = 0; i < size(); ++i) wait_ready(i);
}

void Servers::heal() {
  for (std::size_t i = 0; i < size(); ++i) {
    resume(i);
    restart(i);
  }
  wait_ready();
}

std::vector<std::string> ProcessServers::endpoints() const {
  std::vector<std::string> all;
  for (const Member& member : members_) all.push_back(fmt::format("127.0.0.1:{}", member.port));
  return all;
}

std::string ProcessServers::url(const std::string& path) const {
  return fmt::format("{}://{}{}", scheme_, fmt::join(endpoints(), ","), path);
}

void ProcessServers::kill(std::size_t member) {
  process(member).kill();
  members_.at(member).paused = false;
}

void ProcessServers::pause(std::size_t member) {
  process(member).pause();
  members_.at(member).paused = true;
}

void ProcessServers::resume(std::size_t member) {
  process(member).resume();
  members_.at(member).paused = false;
}

void ProcessServers::restart(std::size_t member) {
  Member& one = members_.at(member);
  if (one.process && one.process->running()) return;
  one.process = std::make_unique<Process>(command(member), fmt::format("{}/{}.log", folder_.path(), member));
}

void ProcessServers::wait_ready(std::size_t member) {
  Process& one = process(member);
  const auto serves = [&] {
    if (!one.running()) throw std::runtime_error(fmt::format("a server ended: {}", one.output_tail()));
    return listens(one.pid(), port(member)) && ready(member);
  };
  wait_until(fmt::format("the answer of server {}", member), start_time_max, serves, [&] { return one.output_tail(); });
}

std::size_t ProcessServers::leader() {
  std::size_t found = 0;
  const auto some = [&] {
    for (found = 0; found < size(); ++found) {
      if (process(found).running() && !members_[found].paused && leads(found)) return true;
    }
    return false;
  };
  wait_until("a leader", start_time_max, some);
  return found;
}

void ProcessServers::start_once() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    member = {};
    member.port = free_port();
    for (std::size_t k = 0; k < peer_ports_; ++k) member.peer_ports.push_back(free_port());
    member.folder = fmt::format("{}/{}", folder_.path(), i);
    std::filesystem::remove_all(member.folder);
    std::filesystem::create_directory(member.folder);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) restart(i);
  wait_ready();
}

void ProcessServers::start() {
  constexpr int tries = 3;
  for (int i = 1;; ++i) {
    try {
      return start_once();
    } catch (const std::exception&) {
      if (i == tries) throw;
    }
  }
}

EtcdCluster::EtcdCluster(std::size_t size, std::vector<std::string> flags)
    : ProcessServers("etcd", size, 1), flags_(std::move(flags)) {
  start();
}

std::vector<std::string> EtcdCluster::command(std::size_t member) {
  const Member& one = members_[member];
  std::vector<std::string> all;
  for (std::size_t i = 0; i < size(); ++i) all.push_back(fmt::format("s{}=http://127.0.0.1:{}", i, members_[i].peer_ports[0]));
  const std::string client = fmt::format("http://127.0.0.1:{}", one.port);
  const std::string peer = fmt::format("http://127.0.0.1:{}", one.peer_ports[0]);
  std::vector<std::string> words{"etcd",
                                 "--name",
                                 fmt::format("s{}", member),
                                 "--data-dir",
                                 one.folder + "/data",
                                 "--listen-client-urls",
                                 client,
                                 "--advertise-client-urls",
                                 client,
                                 "--listen-peer-urls",
                                 peer,
                                 "--initial-advertise-peer-urls",
                                 peer,
                                 "--initial-cluster",
                                 fmt::format("{}", fmt::join(all, ",")),
                                 "--logger=zap",
                                 "--log-level=error"};
  words.insert(words.end(), flags_.begin(), flags_.end());
  return words;
}

// /health reads through the quorum, so it says that the cluster serves, not only that this member runs.
bool EtcdCluster::ready(std::size_t member) {
  const auto answer = ask(port(member), http_get("/health"), answer_time_max);
  return answer && answer->find(R"("health":"true")") != std::string::npos;
}

bool EtcdCluster::leads(std::size_t member) {
  const auto answer = ask(port(member), http_get("/metrics"), answer_time_max);
  return answer && answer->find("\netcd_server_is_leader 1\n") != std::string::npos;
}

ZooKeeperCluster::ZooKeeperCluster(std::size_t size) : ProcessServers("zk", size, 2) { start(); }

std::vector<std::string> ZooKeeperCluster::command(std::size_t member) {
  const Member& one = members_[member];
  const std::string file = one.folder + "/zoo.cfg";
  std::ofstream config(file);
  config << "tickTime=500\ninitLimit=20\nsyncLimit=10\nmaxClientCnxns=0\nadmin.enableServer=false\n"
         << "clientPortAddress=127.0.0.1\nclientPort=" << one.port << "\ndataDir=" << one.folder << "\n";
  if (size() > 1) {
    for (std::size_t i = 0; i < size(); ++i)
      config << fmt::format("server.{}=127.0.0.1:{}:{}\n", i + 1, members_[i].peer_ports[0], members_[i].peer_ports[1]);
    std::ofstream(one.folder + "/myid") << member + 1 << "\n";
  }
  return {"java",
          "-Xmx256m",
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "-XX:-UsePerfData",
          "-cp",
          "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar",
          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
          "-Dzookeeper.extendedTypesEnabled=true",
          "-Dzookeeper.forceSync=no",  // who is killed loses nothing that the kernel has, and the disk may be busy
          "org.apache.zookeeper.server.quorum.QuorumPeerMain",
          file};
}

bool ZooKeeperCluster::ready(std::size_t member) {
  const auto answer = ask(port(member), "srvr", answer_time_max);
  return answer && answer->find("\nMode: ") != std::string::npos;
}

bool ZooKeeperCluster::leads(std::size_t member) {
  const auto answer = ask(port(member), "srvr", answer_time_max);
  return answer &&
         (answer->find("\nMode: leader") != std::string::npos || answer->find("\nMode: standalone") != std::string::npos);
}

EvenkeelServer::EvenkeelServer(std::vector<std::string> flags) : ProcessServers("etcd", 1, 0), flags_(std::move(flags)) {
  start();
}

std::vector<std::string> EvenkeelServer::command(std::size_t member) {
  std::vector<std::string> words{evenkeel_program(),
                                 "store",
                                 "serve",
                                 "--data",
                                 members_[member].folder,
                                 "--listen",
                                 fmt::format("127.0.0.1:{}", port(member))};
  words.insert(words.end(), flags_.begin(), flags_.end());
  return words;
}

// It listens only once it serves.
bool EvenkeelServer::ready(std::size_t) { return true; }

EvenkeelInProcess::EvenkeelInProcess() { restart(0); }
EvenkeelInProcess::~EvenkeelInProcess() { kill(0); }

std::string EvenkeelInProcess::url(const std::string& path) const { return fmt::format("etcd://127.0.0.1:{}{}", port_, path); }

void EvenkeelInProcess::kill(std::size_t) {
  server_.reset();
  engine_.reset();
}

void EvenkeelInProcess::pause(std::size_t) { throw std::logic_error("a server in this process cannot be paused"); }
void EvenkeelInProcess::resume(std::size_t) {}

void EvenkeelInProcess::restart(std::size_t) {
  if (server_) return;
  auto engine = store::embedded::Engine::open(folder_.path() + "/data", {});
  if (!engine) throw std::runtime_error(engine.error().message);
  engine_ = *std::move(engine);
  auto server = store::embedded::Server::start(*engine_, {.listen = fmt::format("127.0.0.1:{}", port_)});
  if (!server) throw std::runtime_error(server.error().message);
  server_ = *std::move(server);
  const std::string& address = server_->address();
  port_ = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

}  // namespace evenkeel::test
