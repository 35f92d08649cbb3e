#include "system/timeline_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "system/collect_waits.h"
#include "system/host.h"

namespace mtsim::system {
namespace {

/// `write`, `read response`, `acknowledgement`, `NAK: receiver not ready`.
std::string name_of(const ports::Packet& packet) {
  using Kind = ports::Packet::Kind;
  const std::string opcode(verbs::name(packet.opcode));
  switch (packet.kind) {
    case Kind::request:
      return verbs::is_read_or_atomic(packet.opcode) ? opcode + " request" : opcode;
    case Kind::response:
      return opcode + " response";
    case Kind::acknowledgement:
      return "acknowledgement";
    case Kind::negative:
      return std::string("NAK: ") + verbs::explain(packet.nak);
  }
  return "packet";
}

/// Steps in which an operation waited for most of the time say for what: `schedule: contexts`. A look-up is two steps of which the longer
/// says it.
std::vector<std::string> steps_with_causes(const ports::Wqe& request) {
  std::array<Time, ports::step_count> spans{};
  Time at = request.begin;
  for (unsigned i = 0; i < ports::step_count; ++i) {
    spans[i] = std::max(request.stamp[i], at) - at;
    at += spans[i];
  }
  std::array<ports::Waits::Entry, ports::step_count> longest{};
  std::array<Time, ports::step_count> waited{};
  for (const ports::Waits::Entry wait : request.waits) {
    unsigned step = unsigned(wait.step());
    const bool looks_up = wait.step() == ports::Step::translation || wait.step() == ports::Step::responder_translation;
    if (looks_up && spans[step - 1] > spans[step]) --step;
    waited[step] += Time(wait.span);
    if (wait.span > longest[step].span) longest[step] = wait;
  }
  std::vector<std::string> out = step_names();
  for (unsigned i = 0; i < ports::step_count; ++i)
    if (longest[i].span != 0 && waited[i] * 2 >= spans[i]) out[i] += std::string(": ") + ports::cause_names[unsigned(longest[i].cause())];
  return out;
}

/// Whether the packet goes back to the requester.
bool is_answer(ports::Packet::Kind kind) { return kind != ports::Packet::Kind::request; }

}  // namespace

struct TimelineRecorder::Scene final : kernel::LapObserver {
  Scene(TimelineRecorder& r, Host& h, std::uint32_t p) : recorder(r), host(h), port(p) {}

  void lap(verbs::Thread thread, ports::RegistrationStep step, Time from, Time to) override {
    recorder.lap(*this, thread, {step, from, to});
  }
  void finished(const ports::RegistrationRecord& record) override {
    host.registrations.finished(record);
    registration = record;
    recorder.pinned(*this);
  }

  TimelineRecorder& recorder;
  Host& host;
  std::uint32_t port;
  std::vector<Row> threads;
  std::vector<std::vector<Lap>> laps;  ///< by thread: of the call under way
  Row completions = 0, out = 0, in = 0, pinned = 0, in_flight = 0;
  Bytes pinned_now;
  std::optional<ports::RegistrationRecord> registration;  ///< of the reg_mr or dereg_mr that is just ending
  std::vector<std::optional<Row>> queues;                 ///< by QP number
  std::vector<std::int64_t> by_queue;                     ///< requests outstanding, by QP number
  std::int64_t all = 0;                                   ///< and of all QPs
  std::unique_ptr<WatchedDevice> device;
};

TimelineRecorder::TimelineRecorder(results::TimelineFile& file, const QpNames& qps, const program::Names& names,
                                   const std::vector<std::unique_ptr<Host>>& hosts, const std::vector<std::uint32_t>& port_of,
                                   fabric::Switch& network)
    : file_(file), qps_(qps), hosts_(hosts) {
  std::vector<std::vector<std::string>> threads(hosts.size());
  for (const program::Names::Actor& actor : names.actors()) {
    std::vector<std::string>& of_host = threads[port_of[actor.host]];
    of_host.resize(std::max<std::size_t>(of_host.size(), actor.thread + 1));
    of_host[actor.thread] = actor.name.substr(actor.name.rfind('.') + 1);
  }
  for (std::uint32_t port = 0; port < hosts.size(); ++port) {
    Host& host = *hosts[port];
    const std::string& title = host.title;
    Scene& s = *scenes_.emplace_back(std::make_unique<Scene>(*this, host, port));
    const auto row = [&](const std::string& name, Timeline::Kind kind = Timeline::Kind::exclusive) { return file_.row(title, name, kind); };
    for (const std::string& thread : threads[port]) s.threads.push_back(row("thread " + thread));
    s.laps.resize(threads[port].size());
    host.cpus.draw(file_, title, threads[port]);
    s.completions = row("completions");
    const auto pipe = [&](const engine::Server& server, const char* name, const char* what) {
      server.draw(TimelineRow(file_, title, name), what);
    };
    pipe(host.nic.requester.pipe(), "NIC requester pipe", "piece");
    pipe(host.nic.responder.pipe(), "NIC responder pipe", "piece");
    const auto contexts = [&](const engine::Semaphore& pool, const char* in_use, const char* without) {
      pool.draw(TimelineRow(file_, title, in_use, Timeline::Kind::level), TimelineRow(file_, title, without, Timeline::Kind::level));
    };
    contexts(host.nic.requester.contexts(), "NIC requester contexts in_use", "NIC pieces without_context");
    contexts(host.nic.responder.contexts(), "NIC responder contexts in_use", "NIC requests without_context");
    host.nic.walker.draw(file_, title);
    host.nic.firmware.draw(file_, title);
    host.nic.dma.draw(file_, title);
    host.pcie.draw(file_, title);
    for (std::size_t further = 1; further < host.adapters().size(); ++further) {
      const Host::Adapter& adapter = host.adapters()[further];
      const std::string process = title + "." + adapter.nic_name;
      adapter.nic.firmware.draw(file_, process);
      adapter.nic.dma.draw(file_, process);
      adapter.pcie.draw(file_, process);
    }
    s.out = row("wire out");
    s.in = row("wire in");
    s.pinned = row("pinned bytes", Timeline::Kind::level);
    s.in_flight = row("requests outstanding", Timeline::Kind::level);
    s.device = std::make_unique<WatchedDevice>(host.device, *this, port, std::max<std::uint32_t>(1, threads[port].size()));
    host.operations.watch(*this, port);
  }
  network.watch(this);
}

TimelineRecorder::~TimelineRecorder() = default;

verbs::Device& TimelineRecorder::device(std::uint32_t port) { return *scenes_[port]->device; }

void TimelineRecorder::begin() {
  for (const auto& scene : scenes_) scene->host.kernel.set_observer(scene.get());
}

void TimelineRecorder::finish() {
  for (const auto& scene : scenes_) {
    scene->device->tell_rest();
    scene->host.cpus.draw_rest();
    // Whoever asks for its usage makes a link work out what it has sent.
    for (const Host::Adapter& adapter : scene->host.adapters()) {
      adapter.pcie.up_usage();
      adapter.pcie.down_usage();
    }
  }
}

void TimelineRecorder::lap(Scene& s, verbs::Thread thread, const Lap& lap) {
  std::vector<Lap>& laps = s.laps[thread];
  if (!laps.empty() && laps.back().step == lap.step) laps.back().end = lap.end;
  else if (lap.begin != lap.end) laps.push_back(lap);
  pinned(s);
}

void TimelineRecorder::pinned(Scene& s) {
  const Bytes now = s.host.kernel.registration().pinned_now;
  if (now == s.pinned_now) return;
  s.pinned_now = now;
  file_.level(s.pinned, s.device->now(), now.raw);
}

void TimelineRecorder::called(std::uint32_t port, const WatchedCall& call) {
  Scene& s = *scenes_[port];
  const std::string_view name = call.name;
  const bool good = call.finished && call.reply->error == 0;
  if (good && (name == "destroy_qp" || name == "modify_qp reset")) outstanding(s, call.qpn, INT64_MIN);
  std::vector<Lap> laps = std::exchange(s.laps[call.thread], {});
  const std::optional<ports::RegistrationRecord> registration = std::exchange(s.registration, {});
  if (call.finished && !call.requests.empty() && call.reply->value != 0) return posted(s, call);

  const Row row = s.threads[call.thread];
  if (!file_.covers(call.begin, call.end) || !file_.samples_next(row)) return;
  std::vector<results::TimelineFile::Part> steps;
  for (const Lap& lap : laps) steps.push_back({ports::registration_step_names[unsigned(lap.step)], lap.begin, lap.end});
  const auto draw = [&](Timeline::Facts facts) { file_.draw(row, name, call.begin, call.end, facts, steps); };
  if (!call.finished) draw({{"ended", 0, "no"}});
  else if (!good) draw({{"error", 0, verbs::errno_name(call.reply->error)}});
  else if (registration) draw({{"bytes", registration->length.raw}, {"pages", registration->cost.pages.raw}});
  else if (call.qpn != 0) draw({{"qpn", call.qpn}});
  else if (name == "poll") draw({{"completions", call.reply->value}});
  else draw({});
}

void TimelineRecorder::posted(Scene& s, const WatchedCall& call) {
  const auto accepted = call.requests.first(call.reply->value);
  const Row row = s.threads[call.thread];
  const auto key = [&](const verbs::SendRequest& request) { return OperationKey{s.port, call.qpn, call.begin, request.wr}; };
  const auto sampled = [&](const verbs::SendRequest& request) { return file_.samples(key(request).hash()); };
  outstanding(s, call.qpn, static_cast<std::int64_t>(accepted.size()));
  if (std::none_of(accepted.begin(), accepted.end(), sampled)) return;
  const bool drawn = file_.draw(row, call.name, call.begin, call.end,
                                {{"qpn", call.qpn}, {"requests", accepted.size()}, {"first_wr", accepted.front().wr}});
  for (const verbs::SendRequest& request : accepted) {
    if (!sampled(request)) continue;
    flows_.posted(key(request));
    if (drawn) flows_.add(key(request), {row, call.begin});
  }
}

void TimelineRecorder::ended(std::uint32_t port, std::uint32_t qpn, const ports::Wqe& request, verbs::Status status) {
  Scene& s = *scenes_[port];
  if (request.opcode != verbs::Opcode::recv) outstanding(s, qpn, -1);
  const OperationKey key{port, qpn, request.begin, request.wr};
  if (!file_.samples(key.hash())) return;
  const std::string name = fmt::format("{} wr={}", verbs::name(request.opcode), request.wr);
  const Time end = request.stamp[unsigned(ports::Step::completion)];
  const std::string_view how = verbs::name(status);
  const std::string longest = longest_waits(request.waits);
  const std::vector<std::string> steps = steps_with_causes(request);
  if (longest.empty())
    file_.draw_life(queue_row(s, qpn), name, request.begin, request.stamp, steps,
                    {{"bytes", request.length}, {"status", 0, how}, {"waited_for", request.waited_for}});
  else
    file_.draw_life(queue_row(s, qpn), name, request.begin, request.stamp, steps,
                    {{"bytes", request.length}, {"status", 0, how}, {"waited_for", request.waited_for}, {"longest_waits", 0, longest}});
  std::vector<OperationFlows::Anchor> anchors = flows_.ended(key);
  if (file_.draw(s.completions, name, end, end, {{"qpn", qpn}, {"status", 0, how}})) anchors.push_back({s.completions, end});
  file_.draw_flow(anchors);
}

Timeline::Row TimelineRecorder::queue_row(Scene& s, std::uint32_t qpn) {
  if (s.queues.size() <= qpn) s.queues.resize(qpn + 1);
  std::optional<Row>& row = s.queues[qpn];
  if (!row) row = file_.row(s.host.title, fmt::format("QP {} ({:#x})", qps_.name(s.port, qpn), qpn), Timeline::Kind::overlapping);
  return *row;
}

// A QP that is destroyed or reset drops what is outstanding; a completion that was already on its way then still comes.
void TimelineRecorder::outstanding(Scene& s, std::uint32_t qpn, std::int64_t change) {
  if (s.by_queue.size() <= qpn) s.by_queue.resize(qpn + 1);
  std::int64_t& here = s.by_queue[qpn];
  const std::int64_t change_here = std::max(change, -here);
  if (change_here == 0) return;
  here += change_here;
  s.all += change_here;
  file_.level(s.in_flight, s.device->now(), static_cast<std::uint64_t>(s.all));
}

std::optional<OperationKey> TimelineRecorder::operation_of(const ports::Packet& packet) const {
  const bool answer = is_answer(packet.kind);
  const std::uint32_t port = answer ? packet.port : packet.source_port, qpn = answer ? packet.qpn : packet.source_qpn;
  const nic::Qp* qp = hosts_[port]->nic.queue_pairs().find(qpn);
  if (qp == nullptr) return std::nullopt;
  const ports::Wqe& wqe = qp->attributes.ring->at(packet.request);
  return OperationKey{port, qpn, wqe.begin, wqe.wr};
}

void TimelineRecorder::packet(const ports::Packet& packet, Row row, Time begin, Time end) {
  if (!file_.covers(begin, end)) return;
  const std::optional<OperationKey> operation = operation_of(packet);
  if (operation ? !file_.samples(operation->hash()) : !file_.samples_next(row)) return;
  const bool drawn = file_.draw(row, name_of(packet), begin, end,
                                {{"from_qpn", packet.source_qpn},
                                 {"to_qpn", packet.qpn},
                                 {"wr", operation ? operation->wr : 0},
                                 {"packets", packet.packets},
                                 {"payload_bytes", packet.payload.raw},
                                 {"wire_bytes", packet.wire.raw}});
  if (drawn && operation && (packet.first || packet.last)) flows_.add(*operation, {row, begin});
}

void TimelineRecorder::leaves(const ports::Packet& p, Time begin, Time end) { packet(p, scenes_[p.source_port]->out, begin, end); }
void TimelineRecorder::comes(const ports::Packet& p, Time begin, Time end) { packet(p, scenes_[p.port]->in, begin, end); }

}  // namespace mtsim::system
