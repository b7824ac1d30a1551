#include "tests/store/backends/conformance.h"

#include <fmt/format.h>

#include "evenkeel/store/backends/embedded/local.h"
#include "evenkeel/store/memory/memory.h"

namespace evenkeel::test {
namespace {

// A loop with its thread.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop_.run(); }) {}
  ~LoopThread() { loop_.stop(); }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  Loop& loop() { return loop_; }
  void run(const std::function<void()>& work) {
    std::promise<void> ran;
    loop_.post([&] {
      work();
      ran.set_value();
    });
    ran.get_future().wait();
  }

 private:
  RealLoop loop_;
  std::jthread thread_;
};

class BlockingClient final : public Client {
 public:
  explicit BlockingClient(std::unique_ptr<store::Blocking> blocking) : blocking_(std::move(blocking)) {}
  Loop& loop() override { return blocking_->loop(); }
  store::Store& store() override { return blocking_->store(); }

 private:
  std::unique_ptr<store::Blocking> blocking_;
};

std::unique_ptr<Client> open_blocking(store::Maker make) {
  auto blocking = store::Blocking::open(std::move(make));
  if (!blocking) throw std::runtime_error(blocking.error().message);
  return std::make_unique<BlockingClient>(*std::move(blocking));
}

// Clients of a world live on the world's loop.
class MemoryDeployment final : public Deployment {
 public:
  MemoryDeployment() {
    thread_.run([&] { world_ = std::make_unique<store::World>(thread_.loop(), store::Faults{.lease = 2s}); });
  }
  ~MemoryDeployment() override {
    thread_.run([&] { world_.reset(); });
  }
  std::unique_ptr<Client> open(const std::string&, const store::OpenOptions&) override {
    std::unique_ptr<store::Store> store;
    thread_.run([&] { store = world_->connect(fmt::format("c{}", ++clients_)); });
    return std::make_unique<MemoryClient>(thread_, std::move(store));
  }
  bool has_paths() const override { return false; }
  void bounce() override {
    thread_.run([&] { world_->stop(); });
    thread_.run([&] { world_->resume(); });
  }
  void restart() override { bounce(); }

 private:
  class MemoryClient final : public Client {
   public:
    MemoryClient(LoopThread& thread, std::unique_ptr<store::Store> store) : thread_(thread), store_(std::move(store)) {}
    ~MemoryClient() override {
      thread_.run([&] { store_.reset(); });
    }
    Loop& loop() override { return thread_.loop(); }
    store::Store& store() override { return *store_; }

   private:
    LoopThread& thread_;
    std::unique_ptr<store::Store> store_;
  };

  std::unique_ptr<store::World> world_;
  int clients_ = 0;
  LoopThread thread_;  // last: it ends first
};

// Clients share the engine, each on a loop of its own.
class EmbeddedDeployment final : public Deployment {
 public:
  EmbeddedDeployment() { restart(); }
  std::unique_ptr<Client> open(const std::string&, const store::OpenOptions& options) override {
    return open_blocking([this, &options](Loop& loop) -> Result<std::unique_ptr<store::Store>> {
      return store::embedded::make_local(loop, engine_, options.lease_ttl);
    });
  }
  bool has_paths() const override { return false; }
  void bounce() override {}
  void restart() override {
    engine_.reset();
    auto engine = store::embedded::Engine::open(folder_.path() + "/data", {});
    if (!engine) throw std::runtime_error(engine.error().message);
    engine_ = *std::move(engine);
  }

 private:
  TempFolder folder_;
  std::shared_ptr<store::embedded::Engine> engine_;
};

class ServerDeployment final : public Deployment {
 public:
  explicit ServerDeployment(std::unique_ptr<Servers> servers) : servers_(std::move(servers)) {}
  std::unique_ptr<Client> open(const std::string& path, const store::OpenOptions& options) override {
    return open_url(servers_->url(path), options);
  }
  void bounce() override {
    for (std::size_t i = 0; i < servers_->size(); ++i) servers_->kill(i);
    servers_->heal();
  }
  void restart() override { bounce(); }

 private:
  std::unique_ptr<Servers> servers_;
};

template <class Kind, std::size_t... size>
std::unique_ptr<Deployment> start_servers() {
  return std::make_unique<ServerDeployment>(std::make_unique<Kind>(size...));
}

constexpr Backend all_backends[] = {
    {"memory", [] { return std::unique_ptr<Deployment>(new MemoryDeployment); }, "memory"},
    {"embedded", [] { return std::unique_ptr<Deployment>(new EmbeddedDeployment); }, "embedded"},
    {"served", start_servers<EvenkeelInProcess>, "etcd"},
    {"etcd1", start_servers<EtcdCluster, 1>, "etcd"},
    {"etcd3", start_servers<EtcdCluster, 3>, "etcd"},
    {"zookeeper1", start_servers<ZooKeeperCluster, 1>, "zookeeper"},
    {"zookeeper3", start_servers<ZooKeeperCluster, 3>, "zookeeper"},
};

// One backend runs at a time: its suite starts it, and stops it after the last case.
class Suite : public testing::Test {
 public:
  Suite(const Backend& backend, const Case& one) : backend_(backend), case_(one) {}
  static void SetUpTestSuite() {
    const std::string_view suite = testing::UnitTest::GetInstance()->current_test_suite()->name();
    for (const Backend& backend : backends()) {
      if (suite == backend.name) running() = backend.start();
    }
  }
  static void TearDownTestSuite() { running().reset(); }

 protected:
  void TestBody() override {
    ASSERT_NE(running(), nullptr) << "the backend could not be started";
    Bed bed(backend_, *running(), case_.name);
    case_.run(bed);
  }

 private:
  static std::unique_ptr<Deployment>& running() {
    static std::unique_ptr<Deployment> deployment;
    return deployment;
  }
  const Backend& backend_;
  const Case& case_;
};

bool register_all() {
  for (const Backend& backend : backends()) {
    for (const auto cases : {key_cases(), txn_cases(), watch_cases(), lease_cases(), session_cases()}) {
      for (const Case& one : cases)
        testing::RegisterTest(backend.name, one.name, nullptr, nullptr, __FILE__, __LINE__,
                              [&backend, &one]() -> Suite* { return new Suite(backend, one); });
    }
  }
  return true;
}
const bool registered = register_all();

}  // namespace

std::span<const Backend> backends() { return all_backends; }

std::unique_ptr<Client> open_url(const std::string& url, const store::OpenOptions& options) {
  return open_blocking([&](Loop& loop) { return store::open(loop, url, options); });
}

Client& Bed::client() {
  if (!client_) client_ = connect();
  return *client_;
}

}  // namespace evenkeel::test
