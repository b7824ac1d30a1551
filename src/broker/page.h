#pragma once
// A broker's status as a page for people: plain HTML, no script, readable without its few lines of style.
//
//   Observed seen = broker->observe();
//   std::string html = format_page(seen.status, seen.clients);
//
// Current config, counters, queues with what they hold and consumed, running tasks with their planned finish, waiting ones. Only what
// the status lists is listed, and how many more there are is said. All text in it is escaped: names and cookies come from clients.
// Pure. Cost: O(size of the status).

#include <map>
#include <string>

#include "evenkeel/broker/status.h"

namespace evenkeel::broker {

// `clients`: their names; one that is missing is shown by its number.
std::string format_page(const Status& status, const std::map<ClientId, std::string>& clients);

}  // namespace evenkeel::broker
