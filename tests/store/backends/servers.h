#pragma once
// Real servers for tests: etcd, ZooKeeper and our own, one of them or three, on free ports of 127.0.0.1.
//
//   EtcdCluster servers(3);                     // returns when all three answer
//   auto store = open(loop, servers.url("/test"), {});
//   servers.pause(servers.leader());            // and kill(i), resume(i), restart(i)
//
// Members are numbered from 0. A member counts as ready when it answers as one that serves, at a port at which our own child listens.
// Start, restart and destroy on one thread that lives on (processes.h). What goes wrong is thrown.

#include <memory>
#include <string>
#include <vector>

#include "evenkeel/store/backends/embedded/engine.h"
#include "evenkeel/store/backends/embedded/server.h"
#include "tests/store/backends/processes.h"

namespace evenkeel::test {

// What tests do to servers, of whatever kind.
class Servers {
 public:
  virtual ~Servers() = default;
  virtual std::size_t size() const = 0;
  // Of all members: "etcd://127.0.0.1:1234,127.0.0.1:1235" and the path.
  virtual std::string url(const std::string& path = {}) const = 0;
  virtual void kill(std::size_t member) = 0;
  virtual void pause(std::size_t member) = 0;
  virtual void resume(std::size_t member) = 0;
  // Starts a killed member on its own data; does not wait.
  virtual void restart(std::size_t member) = 0;
  // Waits until that member serves, or all do.
  virtual void wait_ready(std::size_t member) = 0;
  void wait_ready();
  // Who leads, as the members that go say; waits until one does.
  virtual std::size_t leader() = 0;
  // Running and going again, all of them: after a test's faults.
  void heal();
};

// start<EtcdCluster, 3>: for tables of tests.
template <class Kind, std::size_t... size>
std::unique_ptr<Servers> start() {
  return std::make_unique<Kind>(size...);
}

// Members that are processes: what the three kinds below share.
class ProcessServers : public Servers {
 public:
  std::size_t size() const override { return members_.size(); }
  std::string url(const std::string& path = {}) const override;
  std::vector<std::string> endpoints() const;
  std::uint16_t port(std::size_t member) const { return members_.at(member).port; }
  Process& process(std::size_t member) { return *members_.at(member).process; }
  const std::string& folder() const { return folder_.path(); }

  void kill(std::size_t member) override;
  void pause(std::size_t member) override;
  void resume(std::size_t member) override;
  void restart(std::size_t member) override;
  using Servers::wait_ready;
  void wait_ready(std::size_t member) override;
  std::size_t leader() override;

 protected:
  struct Member {
    std::uint16_t port = 0;                 // for clients
    std::vector<std::uint16_t> peer_ports;  // for one another
    std::string folder;
    std::unique_ptr<Process> process;
    bool paused = false;
  };

  ProcessServers(std::string scheme, std::size_t size, std::size_t peer_ports)
      : scheme_(std::move(scheme)), members_(size), peer_ports_(peer_ports) {}
  // Draws ports, starts all and waits; with other ports if some were taken meanwhile. For the end of a constructor.
  void start();
  virtual std::vector<std::string> command(std::size_t member) = 0;
  virtual bool ready(std::size_t member) = 0;
  virtual bool leads(std::size_t member) = 0;

  std::string scheme_;
  TempFolder folder_{TempFolder::Where::memory};  // what a killed process wrote is there, as on a disk
  std::vector<Member> members_;

 private:
  void start_once();
  std::size_t peer_ports_;
};

class EtcdCluster final : public ProcessServers {
 public:
  // `flags` are added to each member's command line.
  explicit EtcdCluster(std::size_t size = 1, std::vector<std::string> flags = {});

 protected:
  std::vector<std::string> command(std::size_t member) override;
  bool ready(std::size_t member) override;
  bool leads(std::size_t member) override;

 private:
  std::vector<std::string> flags_;
};

class ZooKeeperCluster final : public ProcessServers {
 public:
  explicit ZooKeeperCluster(std::size_t size = 1);

 protected:
  std::vector<std::string> command(std::size_t member) override;
  bool ready(std::size_t member) override;
  bool leads(std::size_t member) override;
};

// `evenkeel store serve` as a process of its own, so that it can be killed.
class EvenkeelServer final : public ProcessServers {
 public:
  explicit EvenkeelServer(std::vector<std::string> flags = {});
  const std::string& data() const { return members_[0].folder; }

 protected:
  std::vector<std::string> command(std::size_t member) override;
  bool ready(std::size_t member) override;
  bool leads(std::size_t) override { return true; }

 private:
  std::vector<std::string> flags_;
};

// The same engine and server in this process. Killing it is a proper stop, and it cannot be paused.
class EvenkeelInProcess final : public Servers {
 public:
  EvenkeelInProcess();
  ~EvenkeelInProcess() override;
  std::size_t size() const override { return 1; }
  std::string url(const std::string& path = {}) const override;
  void kill(std::size_t member) override;
  void pause(std::size_t member) override;
  void resume(std::size_t member) override;
  void restart(std::size_t member) override;
  using Servers::wait_ready;
  void wait_ready(std::size_t) override {}
  std::size_t leader() override { return 0; }
  store::embedded::Engine& engine() { return *engine_; }

 private:
  TempFolder folder_;
  std::uint16_t port_ = 0;
  std::unique_ptr<store::embedded::Engine> engine_;
  std::unique_ptr<store::embedded::Server> server_;
};

}  // namespace evenkeel::test
