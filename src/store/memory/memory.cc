#include "evenkeel/store/memory/memory.h"

#include "evenkeel/store/memory/detail/client.h"
#include "evenkeel/store/memory/detail/server.h"

namespace evenkeel::store {

World::World(Loop& loop, Faults faults) : loop_(loop), server_(std::make_shared<Server>(loop, faults)) {}
World::~World() = default;

std::unique_ptr<Store> World::connect(std::string client) { return connect(std::move(client), loop_); }

std::unique_ptr<Store> World::connect(std::string client, Loop& loop) {
  return std::make_unique<Client>(server_, std::move(client), loop);
}

void World::set_faults(Faults faults) { server_->set_faults(faults); }
void World::cut_off(const std::string& client) { server_->cut_off(client); }
void World::heal(const std::string& client) { server_->heal(client); }
void World::expire(const std::string& client) { server_->expire(client); }
void World::stop() { server_->stop(); }
void World::resume() { server_->resume(); }
Result<> World::put_back(Revision to) { return server_->put_back(to); }
void World::lose_everything() { server_->lose_everything(); }
void World::on_commit(std::function<void(const std::string&, const Txn&, const Committed&)> observer) {
  server_->on_commit(std::move(observer));
}
Listing World::contents(const std::string& prefix) const { return {server_->state().list(prefix), server_->state().revision()}; }

Revision World::revision() const { return server_->state().revision(); }

}  // namespace evenkeel::store
