#include "meeting.h"

#include <fmt/format.h>

namespace mtsim::replay {

verbs::Progress Meeting::arrive(verbs::Device& device, verbs::Thread thread, std::uint32_t barrier, std::uint32_t n, verbs::Caller&) {
  around_.turn.check();
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
  around_.turn.give_up(fmt::format("{}: {} of {} came, and nothing else went on for {} s", static_cast<Process&>(device).where(thread),
                                   here.waiting, n, std::chrono::duration_cast<std::chrono::seconds>(around_.turn.limit()).count()));
  throw GivenUp{};
}

}  // namespace mtsim::replay
