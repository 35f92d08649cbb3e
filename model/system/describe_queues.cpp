#include "system/describe_queues.h"

#include <fmt/format.h>

#include <array>

#include "results/human.h"

namespace mtsim::system {
namespace {

constexpr std::uint64_t most_lines = 32;  ///< of one queue
constexpr std::array<const char*, engine::Channel::agents> reads_of{"writes", "payload", "tables", "queues"};

/// Adds lines of one queue, and says how many are left out.
class Queue {
 public:
  Queue(std::vector<std::string>& lines, std::string indent) : lines_(lines), indent_(std::move(indent)) {}
  ~Queue() {
    if (count_ > most_lines) lines_.push_back(fmt::format("{}and {} more", indent_, count_ - most_lines));
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  bool takes() { return count_++ < most_lines; }
  void add(const std::string& line) { lines_.push_back(indent_ + line); }

 private:
  std::vector<std::string>& lines_;
  std::string indent_;
  std::uint64_t count_ = 0;
};

/// Where a request of the send queue stands.
std::string standing(nic::Qp& qp, std::uint32_t index) {
  const auto before = [&](std::uint32_t limit) { return static_cast<std::int32_t>(index - limit) < 0; };
  if (qp.request(index).answered) return "answered, waits for those before it to end";
  if (index == qp.next && qp.offset != 0) return fmt::format("taken up to byte {}", qp.offset);
  if (qp.preparing && index + 1 == qp.next + (qp.offset != 0)) return qp.prepares;
  if (before(qp.next)) return "taken up, not answered";
  if (before(qp.fetched)) {
    if (index != qp.next) return "in the NIC, behind the one before it";
    if (qp.preparing) return "in the NIC, waits for the look-up before it";
    if (qp.brings_contexts) return "in the NIC, waits for its QP's context or its own to be fetched";
    return qp.listed ? "in the NIC, its QP waits for its turn" : "in the NIC, held back";
  }
  return qp.fetching ? "its WQE is being fetched" : "its WQE is not fetched";
}

void describe_qp(const std::string& name, nic::Qp& qp, std::vector<std::string>& lines) {
  if (qp.retired != qp.producer) {
    lines.push_back(fmt::format("{}: QP {:#x} ({}) has {} requests outstanding: {} sent or being sent, {} in the NIC, {} READs{}", name,
                                qp.qpn, verbs::name(qp.state), qp.producer - qp.retired, qp.next - qp.retired, qp.fetched - qp.next,
                                qp.reads, qp.waiting ? "; its peer was not ready to receive, and it tries again and again" : ""));
    Queue queue(lines, "  ");
    for (std::uint32_t index = qp.retired; index != qp.producer; ++index)
      if (queue.takes()) {
        const ports::Wqe& wqe = qp.wqe(index);
        queue.add(fmt::format("{} wr={} of {}: {}", verbs::name(wqe.opcode), wqe.wr, results::human::bytes(Bytes(wqe.length)),
                              standing(qp, index)));
      }
  }
  if (!qp.sends.empty())
    lines.push_back(fmt::format("{}: QP {:#x} has {} pieces on their way to the wire", name, qp.qpn, qp.sends.length()));
  const auto inbox = [&](const nic::Inbox& box, const char* what) {
    Queue queue(lines, fmt::format("{}: QP {:#x}: ", name, qp.qpn));
    for (const ports::Packet* packet = box.first(); packet != nullptr; packet = packet->next)
      if (queue.takes())
        queue.add(fmt::format("a {} {} of QP {:#x} stands in its queue", verbs::name(packet->opcode), what, packet->source_qpn));
  };
  if (qp.served != nullptr)
    lines.push_back(fmt::format("{}: QP {:#x}: a {} request of QP {:#x} {}", name, qp.qpn, verbs::name(qp.served->opcode),
                                qp.served->source_qpn, qp.serves));
  inbox(qp.requests, "request");
  if (!qp.answers.empty())
    lines.push_back(fmt::format("{}: QP {:#x} has {} answers on their way to the wire", name, qp.qpn, qp.answers.length()));
  if (qp.accepts != nullptr) lines.push_back(fmt::format("{}: QP {:#x}: an answer {}", name, qp.qpn, qp.accepts));
  inbox(qp.responses, "answer");
  if (qp.context_fetch == nullptr) return;
  lines.push_back(
      fmt::format("{}: the context of QP {:#x} is being fetched; others that wait for it: {}", name, qp.qpn, qp.context_fetch->count()));
}

std::string of(const ports::Query& query) {
  if (query.packet != nullptr)
    return fmt::format("QP {:#x}'s {} request of QP {:#x}", query.qpn, verbs::name(query.packet->opcode), query.packet->source_qpn);
  if (query.wqe != nullptr) return fmt::format("QP {:#x}'s {} wr={}", query.qpn, verbs::name(query.wqe->opcode), query.wqe->wr);
  return fmt::format("QP {:#x}", query.qpn);
}

void describe_walks(const std::string& name, const nic::Walker& walker, std::vector<std::string>& lines) {
  // The list begins with the youngest.
  std::vector<const nic::Walker::Walking*> walks;
  for (auto* walk = walker.first_walking(); walk != nullptr; walk = walk->next) walks.insert(walks.begin(), walk);
  Queue queue(lines, name + ": ");
  for (const nic::Walker::Walking* walk : walks)
    if (queue.takes())
      queue.add(fmt::format("a look-up of key {:#x} at {:#x} for {} waits for {} {} line {}", walk->query->wish.key.raw,
                            walk->query->address.raw, of(*walk->query), walk->state, walker.kind_name(walk->query->step.line_kind),
                            walk->query->step.tag));
}

void describe_fetches(const std::string& name, const nic::Walker& walker, std::vector<std::string>& lines) {
  Queue queue(lines, name + ": ");
  for (const nic::Walker::Fetch* fetch = walker.first_fetch(); fetch != nullptr; fetch = fetch->next) {
    if (queue.takes())
      queue.add(fmt::format("{} line {} is being fetched; others that wait for it: {}", walker.kind_name(fetch->kind), fetch->tag,
                            fetch->waiters.count()));
  }
}

void describe_dma(const std::string& name, const nic::DmaEngine& dma, std::vector<std::string>& lines) {
  {
    Queue queue(lines, name + ": ");
    for (const ports::ReadBurst* read = dma.first_waiting(); read != nullptr; read = read->next)
      if (queue.takes())
        queue.add(
            fmt::format("a read of {} ({} at {:#x}) waits for {}{} since {}", reads_of[unsigned(read->agent)],
                        results::human::bytes(read->length), read->address.raw, read->tags,
                        dma.reads_held() && read == dma.first_waiting() ? " PCIe credits or room in the completion buffer" : " PCIe tags",
                        results::human::time(read->since)));
  }
  {
    Queue queue(lines, name + ": ");
    for (const nic::DmaEngine::HeldWrite& write : dma.held_writes())
      if (queue.takes())
        queue.add(fmt::format("a write of {} ({} at {:#x}) waits for PCIe credits since {}",
                              ports::purpose_names[unsigned(write.posted.purpose)], results::human::bytes(write.length), write.address.raw,
                              results::human::time(write.since)));
  }
  Queue queue(lines, name + ": ");
  for (const ports::RoomWaiter* writer = dma.first_writer(); writer != nullptr; writer = writer->next)
    if (queue.takes()) queue.add(fmt::format("a write waits for room in the write buffer since {}", results::human::time(writer->since)));
}

}  // namespace

void describe_queues(const std::string& name, const nic::Nic& nic, std::vector<std::string>& lines) {
  for (const auto& qp : nic.queue_pairs().all())
    if (!qp->destroyed) describe_qp(name, *qp, lines);
  describe_walks(name, nic.walker, lines);
  describe_fetches(name, nic.walker, lines);
  describe_dma(name, nic.dma, lines);
  const auto in_use = [&](const char* what, std::uint64_t used, std::uint64_t of) {
    if (used != 0) lines.push_back(fmt::format("{}: {} of {} {} in use", name, used, of, what));
  };
  const auto pool = [&](const char* what, const engine::Semaphore& places) { in_use(what, places.in_use(), places.places()); };
  pool("requester contexts", nic.requester.contexts());
  pool("responder contexts", nic.responder.contexts());
  pool("walk slots", nic.walker.walks());
  pool("command slots", nic.firmware.slots());
  if (nic.qp_contexts) pool("fetches of QP contexts", nic.qp_contexts->fetches());
  if (nic.request_contexts) pool("fetches of request contexts", nic.request_contexts->fetches());
  in_use("PCIe tags", nic.dma.tags_in_use(), nic.dma.tags());
  for (unsigned agent = 0; agent < reads_of.size(); ++agent)
    if (const std::uint32_t tags = nic.dma.tags_in_use(ports::Agent(agent)); tags != 0)
      lines.push_back(fmt::format("{}:   {} by reads of {}", name, tags, reads_of[agent]));
  if (nic.completion.writing() != 0) lines.push_back(fmt::format("{}: {} CQEs on their way to memory", name, nic.completion.writing()));
  if (nic.dropped_packets() != 0)
    lines.push_back(fmt::format("{}: {} packets were dropped: their QP was gone or not ready", name, nic.dropped_packets()));
}

}  // namespace mtsim::system
