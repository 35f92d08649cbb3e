#include "meeting.h"

#include <fmt/format.h>

#include "peers.h"

namespace mtsim::replay {

verbs::Progress Meeting::arrive(verbs::Device& device, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n, verbs::Caller&) {
  around_.turn.check();
  if (around_.peers != nullptr && barrier < shared_) return arrive_with_others(static_cast<Process&>(device), thread, barrier, n);
  Barrier& here = barriers_[barrier];
  if (++here.waiting >= n) {
    here.waiting = 0;
    ++here.opened;
    around_.turn.got_on();
    around_.turn.announce();
    return verbs::Progress::done;
  }
  const std::uint64_t before = here.opened;
  if (around_.turn.wait_for([&] { return here.opened != before; })) return verbs::Progress::done;
  give_up(static_cast<Process&>(device), thread, fmt::format("{} of {} came", here.waiting, n));
}

verbs::Progress Meeting::arrive_with_others(const Process& process, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n) {
  const std::uint64_t ticket = around_.peers->arrive(barrier, n);
  if (!around_.turn.wait_for([&] { return around_.peers->opened(ticket); })) give_up(process, thread, "not all came");
  around_.turn.got_on();
  return verbs::Progress::done;
}

void Meeting::give_up(const Process& process, verbs::Thread thread, const std::string& who_came) const {
  const auto limit = std::chrono::duration_cast<std::chrono::seconds>(around_.turn.limit()).count();
  around_.turn.give_up(fmt::format("{}: {}, and nothing else went on for {} s", process.where(thread), who_came, limit));
  throw GivenUp{};
}

}  // namespace mtsim::replay
