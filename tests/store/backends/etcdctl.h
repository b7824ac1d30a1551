#pragma once
// etcdctl, the real one, as tests use it against real etcd and our own server.
//
//   Etcdctl ctl("127.0.0.1:2379");
//   Said said = ctl.run({"put", "a", "1"});               // waits for its end
//   auto watching = ctl.start({"watch", "a"});            // goes on until it is destroyed
//   watching->wait_for("PUT");

#include <memory>
#include <string>
#include <vector>

#include "tests/store/backends/processes.h"

namespace evenkeel::test {

struct Said {
  int code = 0;
  std::string out;
  std::string error;  // without log lines
};

class Etcdctl {
 public:
  // One that runs. Its output grows.
  class Running {
   public:
    std::string out() const;
    std::string error() const;
    void wait_for(std::string_view text);  // in `out`; throws if it does not come
    Said finish();                         // waits for its end
    Process& process() { return *process_; }

   private:
    friend class Etcdctl;
    std::string files_;
    std::unique_ptr<Process> process_;
  };

  // `flags` go before every command: certificates and the like.
  explicit Etcdctl(std::string endpoint, std::vector<std::string> flags = {});
  std::unique_ptr<Running> start(std::vector<std::string> words, const std::string& input = {});
  Said run(std::vector<std::string> words, const std::string& input = {});
  const std::string& endpoint() const { return endpoint_; }

 private:
  std::string endpoint_;
  std::vector<std::string> flags_;
  TempFolder folder_;
  int count_ = 0;
};

std::string text_of(const std::string& path);
void write_text(const std::string& path, std::string_view text);

}  // namespace evenkeel::test
