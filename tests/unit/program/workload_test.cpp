// Do workloads make the programs that they say: legal, within their windows, with the right number of operations?
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "program/workload_kinds.h"
#include "unit/program/actor_listing.h"

using namespace mtsim;
using namespace mtsim::test;

namespace {

Shape small_shape() {
  auto shape = defaults<Shape>();
  shape.clients = 2;
  shape.threads = 3;
  shape.qps = 2;
  shape.window = 8;
  shape.signal_every = 4;
  shape.operations = 101;
  shape.block = Bytes(512);
  return shape;
}

PoolParams small_pool() { return {Bytes(8192), Bytes(8192)}; }

std::vector<std::unique_ptr<Workload>> one_of_each(const Shape& shape) {
  std::vector<std::unique_ptr<Workload>> out;
  out.push_back(make_pool(shape, small_pool()));
  out.push_back(make_per_op(shape, small_pool(), {5}));
  out.push_back(make_uniform(shape, {Bytes(65536), 3}, {7}));
  out.push_back(make_sequential(shape, {Bytes(65536), 3}));
  out.push_back(make_connections(shape, {Bytes(65536), 3, {}}, {7}, {0, 12, 5, ConnectionsParams::Choice::random}));
  return out;
}

/// Those that register and send nothing.
std::vector<std::unique_ptr<Workload>> those_without_posts(const Shape& shape, bool touched, bool remap) {
  std::vector<std::unique_ptr<Workload>> out;
  out.push_back(make_ladder(shape, {Bytes(1000), Bytes(70'000), 4, 3, 5, touched}));
  auto cache = defaults<RegistrationCacheParams>();
  cache.memory = Bytes(65536);
  cache.stride = Bytes(1000);
  cache.sweeps = 3;
  cache.most_regions = 7;
  cache.remap_every = remap ? 1 : 0;
  out.push_back(make_registration_cache(shape, cache));
  out.push_back(make_dma(shape, {Bytes(65536), 1}, {7}, defaults<DmaParams>()));
  // 18 pages in chunks of 4, or in one MR a NIC.
  using Touch = ChunkedParams::Touch;
  out.push_back(make_chunked(shape, {Bytes(18 * 4096), Bytes(remap ? 4 * 4096 : 0), 2, 3, touched ? Touch::all : Touch::one}));
  return out;
}

std::map<Kind, std::uint64_t> count(const Workload& workload) {
  std::map<Kind, std::uint64_t> kinds;
  Op op;
  for (const auto all = workload.all(); all->next(op);) ++kinds[op.kind];
  return kinds;
}

}  // namespace

TEST_CASE("every workload runs to its end as a program does") {
  const bool deferred = GENERATE(false, true);
  Shape shape = small_shape();
  shape.qps = GENERATE(1u, 2u);
  shape.signal_every = GENERATE(1u, 3u, 8u);
  shape.operations = GENERATE(1u, 7u, 101u);
  for (const auto& workload : one_of_each(shape)) {
    CAPTURE(workload->title(), shape.qps, shape.signal_every, shape.operations, deferred);
    FakeRun run(*workload, deferred);
    run.run();
    CHECK(run.actors().standing() == std::vector<std::string>{});
    CHECK(run.surprises() == std::vector<std::string>{});
    CHECK(run.tally.operations() == workload->size());
    CHECK(run.tally.operations(Kind::post_send) == 6 * shape.operations);
    CHECK(run.tally.lacking_objects() == 0);
    for (std::size_t host = 0; host < 2; ++host) {
      FakeDevice& device = run.device(host);
      CHECK_FALSE(device.overflowed);
      // A request's bytes lie within the memory at both ends.
      for (const auto& request : device.requests) CHECK(request.remote_address >= 0x10000);
      for (const auto& sges : device.elements) CHECK(sges.size() == 1);
    }
  }
}

TEST_CASE("workloads that only register run to their end too") {
  const bool variant = GENERATE(false, true);
  Shape shape = small_shape();
  shape.clean_up = true;
  for (const auto& workload : those_without_posts(shape, variant, variant)) {
    CAPTURE(workload->title(), variant);
    FakeRun run(*workload, variant);
    run.run();
    CHECK(run.actors().standing() == std::vector<std::string>{});
    CHECK(run.surprises() == std::vector<std::string>{});
    CHECK(run.tally.operations() == workload->size());
    CHECK(run.tally.operations(Kind::post_send) == 0);
    CHECK(run.tally.operations(Kind::reg_mr) == run.tally.operations(Kind::dereg_mr));
    CHECK(run.tally.operations(Kind::mmap) == run.tally.operations(Kind::munmap));
    CHECK(run.tally.lacking_objects() == 0);
  }
}

TEST_CASE("a ladder registers each rung as often as asked, its MRs apart") {
  const Shape shape = small_shape();
  for (const bool touched : {true, false}) {
    // Rungs of 1,000, 4,000, 16,000, 64,000 and 70,000 bytes.
    const auto ladder = make_ladder(shape, {Bytes(1000), Bytes(70'000), 4, 3, 5, touched});
    std::map<std::uint64_t, std::uint64_t> by_size;
    std::map<Kind, std::uint64_t> kinds;
    const auto cursor = ladder->cursor(0);
    for (Op op; cursor->next(op);) {
      ++kinds[op.kind];
      if (op.kind == Kind::reg_mr) {
        ++by_size[op.length];
        CHECK(op.address.offset % 4096 == 0);
      }
    }
    CHECK(by_size == std::map<std::uint64_t, std::uint64_t>{{1000, 15}, {4000, 15}, {4096, 1}, {16'000, 15}, {64'000, 15}, {70'000, 15}});
    // One more of each is the buffer of the set-up.
    CHECK(kinds[Kind::mmap] == 1 + (touched ? 5 : 15));
    CHECK(kinds[Kind::touch] == 1 + (touched ? 5 : 0));
  }
}

TEST_CASE("chunked covers the range on every NIC, each thread its share of MRs and pages") {
  using Touch = ChunkedParams::Touch;
  Shape shape = small_shape();
  shape.clients = 1;
  for (const std::uint64_t chunk : {0, 4, 18, 1}) {
    for (const Touch touch : {Touch::none, Touch::one, Touch::all}) {
      const std::uint64_t pages = 18, page = 4096;
      const auto workload = make_chunked(shape, {Bytes(pages * page), Bytes(chunk * page), 2, 2, touch});
      CAPTURE(chunk, int(touch));
      // By PD, how often each page is registered; and how often it is touched.
      std::map<std::string, std::vector<int>> registered;
      std::vector<int> touched(pages);
      std::vector<std::uint64_t> by_thread(3);
      for (ActorId actor = 0; actor < 3; ++actor) {
        std::uint64_t live = 0;
        const auto cursor = workload->cursor(actor);
        for (Op op; cursor->next(op);) {
          const auto name = [&](NameId id) { return workload->names().object_name(id); };
          if (op.kind == Kind::reg_mr && name(op.address.object) == "range") {
            auto& of_pd = registered[name(op.pd)];
            of_pd.resize(pages);
            REQUIRE(op.length % page == 0);
            for (std::uint64_t p = op.address.offset / page; p < (op.address.offset + op.length) / page; ++p) ++of_pd.at(p);
            ++by_thread[actor];
            ++live;
          }
          if (op.kind == Kind::touch && name(op.id) == "range")
            for (std::uint64_t p = op.offset / page; p < (op.offset + op.length + page - 1) / page; ++p) ++touched.at(p);
          // A thread gives back what it has registered, all of it, before the next round.
          if (op.kind == Kind::dereg_mr && name(op.id) != "mr") --live;
          if (op.kind == Kind::barrier && workload->names().barrier_name(op.barrier) == "mapped") CHECK(live == 0);
        }
        CHECK(live == 0);
      }
      const std::vector<int> twice(pages, 2);
      CHECK(registered == std::map<std::string, std::vector<int>>{{"pd", twice}, {"pd_nic1", twice}});
      CHECK(touched == (touch == Touch::none ? std::vector<int>(pages) : twice));
      // 2, 10, 2 or 36 MRs a round for three threads.
      const std::uint64_t each = chunk == 1 ? 24 : chunk == 4 ? 8 : 2;
      CHECK(by_thread[0] == each);
      CHECK(by_thread[2] == (chunk == 4 ? 6 : chunk == 1 ? 24 : 0));
    }
  }
}

TEST_CASE("a chunked range names the last of its NICs, and times its phases") {
  using Touch = ChunkedParams::Touch;
  Shape shape = small_shape();
  CHECK(make_chunked(shape, {Bytes(65536), Bytes(0), 1, 1, Touch::all})->nics().empty());
  const auto workload = make_chunked(shape, {Bytes(65536), Bytes(0), 4, 1, Touch::all});
  REQUIRE(workload->nics().size() == 2);
  CHECK(workload->nics()[1].host == workload->names().find_host("client1"));
  CHECK(workload->nics()[1].name == "nic3");
  std::vector<std::string> names;
  for (const auto& phase : workload->phases()) names.push_back(phase.name);
  CHECK(names == std::vector<std::string>{"touch", "registration", "deregistration"});
  CHECK(make_chunked(shape, {Bytes(65536), Bytes(0), 4, 1, Touch::none})->phases().size() == 2);
}

TEST_CASE("a closed loop keeps its windows full") {
  Shape shape = small_shape();
  shape.threads = 1;
  for (const std::uint32_t every : {1u, 4u, 8u}) {
    shape.signal_every = every;
    const auto workload = make_uniform(shape, {Bytes(65536), 1}, {1});
    FakeRun run(*workload, true);
    run.run();
    CHECK(run.device(0).deepest_queue == 8);
    CHECK(run.device(0).most_outstanding == 16);
  }
}

TEST_CASE("connections are shared out, and a thread has so many requests under way over all of its own") {
  Shape shape = small_shape();
  shape.threads = 1;
  shape.qps = 1;
  shape.signal_every = 1;
  for (const auto choice : {ConnectionsParams::Choice::random, ConnectionsParams::Choice::turn})
    for (const std::uint32_t batch : {0u, 1u, 3u}) {
      const auto workload = make_connections(shape, {Bytes(65536), 1, {}}, {1}, {10, 12, batch, choice});
      auto kinds = count(*workload);
      CHECK(kinds[Kind::create_qp] == 2 * 10);
      CHECK(kinds[Kind::post_send] == 2 * 101);
      CHECK(kinds[Kind::poll] == 2 * 101);
      FakeRun run(*workload, true);
      run.run();
      CHECK(run.surprises() == std::vector<std::string>{});
      CHECK(run.device(0).most_outstanding == 12);
      CHECK(run.device(0).deepest_queue <= 8);
      if (choice == ConnectionsParams::Choice::turn) CHECK(run.device(0).deepest_queue == 3);
      // All five of the client's connections are used, evenly so by turns.
      std::map<NameId, std::uint64_t> uses;
      Op op;
      for (const auto own = workload->cursor(0); own->next(op);)
        if (op.kind == Kind::post_send) ++uses[op.qp];
      CHECK(uses.size() == 5);
      for (const auto& [qp, n] : uses) CHECK((choice == ConnectionsParams::Choice::random || n == 20 || n == 21));
    }
}

TEST_CASE("a batch is waited for as a whole") {
  Shape shape = small_shape();
  shape.clients = shape.threads = shape.qps = shape.signal_every = 1;
  shape.operations = 10;
  const auto workload = make_connections(shape, {Bytes(65536), 1, {}}, {1}, {2, 4, 0, ConnectionsParams::Choice::turn});
  std::string order;
  Op op;
  for (const auto own = workload->cursor(0); own->next(op);)
    if (op.kind == Kind::post_send || op.kind == Kind::poll) order += op.kind == Kind::poll ? 'w' : 'p';
  CHECK(order == "ppppwwwwppppwwwwppww");
}

TEST_CASE("per_op registers every block, pool none") {
  const Shape shape = small_shape();
  const std::uint64_t blocks = 6 * shape.operations;
  auto pool = count(*make_pool(shape, small_pool()));
  auto per_op = count(*make_per_op(shape, small_pool(), {5}));
  CHECK(pool[Kind::reg_mr] == 2 + 1);
  CHECK(pool[Kind::dereg_mr] == 2 + 1);
  CHECK(per_op[Kind::reg_mr] == blocks + 1);
  CHECK(per_op[Kind::dereg_mr] == blocks + 1);
  CHECK(pool[Kind::post_send] == blocks);
  CHECK(per_op[Kind::post_send] == blocks);
  CHECK(per_op[Kind::poll] == blocks);
  // 51 and 50 requests on the two QPs of a thread, one completion in 4 and the last.
  CHECK(pool[Kind::poll] == 6 * (13 + 13));
}

TEST_CASE("all() is a legal order of lines, and the same operations as the actors'") {
  for (const auto& workload : one_of_each(small_shape())) {
    CAPTURE(workload->title());
    std::map<std::uint32_t, std::uint64_t> last;
    std::map<ActorId, std::unique_ptr<Cursor>> own;
    std::set<NameId> made;
    std::uint64_t lines = 0;
    Op op, same;
    const Names& names = workload->names();
    for (ActorId a = 0; a < names.actors().size(); ++a) own[a] = workload->cursor(a);
    for (const auto all = workload->all(); all->next(op); ++lines) {
      REQUIRE(own[op.actor]->next(same));
      CHECK((same.kind == op.kind && same.id == op.id && same.line == op.line && same.to.offset == op.to.offset));
      switch (op.kind) {
        case Kind::reg_mr:
          CHECK((made.contains(op.pd) && made.contains(op.address.object)));
          [[fallthrough]];
        case Kind::mmap:
        case Kind::alloc_pd:
        case Kind::create_cq:
        case Kind::create_qp:
          CHECK(made.insert(op.id).second);
          break;
        case Kind::dereg_mr:
        case Kind::munmap:
        case Kind::destroy_qp:
        case Kind::destroy_cq:
        case Kind::dealloc_pd:
          CHECK(made.erase(op.id) == 1);
          break;
        case Kind::post_send: {
          std::uint64_t& wr = last[names.actors()[op.actor].host];
          CHECK(op.wr > wr);
          wr = op.wr;
          CHECK((made.contains(op.qp) && made.contains(op.sges[0].address.object) && made.contains(op.to.object)));
          break;
        }
        default:
          break;
      }
    }
    CHECK(lines == workload->size());
    CHECK(made.empty());
  }
}

TEST_CASE("pool goes through its slots in turn, the threads of a client side by side") {
  Shape shape = small_shape();
  shape.clients = 1;
  const auto workload = make_pool(shape, {Bytes(4096 + 100), Bytes(2048)});
  std::vector<std::uint64_t> local, remote;
  Op op;
  for (const auto all = workload->all(); local.size() < 10 && all->next(op);)
    if (op.kind == Kind::post_send) {
      local.push_back(op.sges[0].address.offset / 512);
      remote.push_back(op.to.offset / 512);
    }
  CHECK(local == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 0, 1});
  CHECK(remote == std::vector<std::uint64_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1});
}

TEST_CASE("uniform reaches all of its footprint evenly and draws the same again") {
  Shape shape = small_shape();
  shape.clients = shape.threads = shape.qps = 1;
  shape.operations = 64'000;
  const auto workload = make_uniform(shape, {Bytes(32768), 4, Bytes()}, {3}), again = make_uniform(shape, {Bytes(32768), 4, Bytes()}, {3});
  std::map<std::pair<NameId, std::uint64_t>, std::uint64_t> hits;
  Op op, twin;
  const auto cursor = workload->cursor(0), other = again->cursor(0);
  while (cursor->next(op)) {
    REQUIRE(other->next(twin));
    if (op.kind != Kind::post_send) continue;
    CHECK((op.to.object == twin.to.object && op.to.offset == twin.to.offset));
    ++hits[{op.to.object, op.to.offset}];
  }
  CHECK(hits.size() == 64);
  for (const auto& [where, n] : hits) {
    CHECK(n > 800);
    CHECK(n < 1200);
    CHECK(where.second + 512 <= 8192);
  }
}

TEST_CASE("blocks lie a stride apart") {
  Shape shape = small_shape();
  shape.clients = shape.threads = shape.qps = 1;
  shape.operations = 5;
  const auto workload = make_sequential(shape, {Bytes(3 * 8192 + 5000), 1, Bytes(8192)});
  std::vector<std::uint64_t> offsets;
  Op op;
  for (const auto cursor = workload->cursor(0); cursor->next(op);)
    if (op.kind == Kind::post_send) offsets.push_back(op.to.offset);
  CHECK(offsets == std::vector<std::uint64_t>{0, 8192, 16384, 0, 8192});
}

TEST_CASE("sequential threads start apart and wrap around") {
  Shape shape = small_shape();
  shape.clients = shape.qps = 1;
  shape.threads = 2;
  shape.operations = 20;
  const auto workload = make_sequential(shape, {Bytes(16 * 512), 2, Bytes()});
  std::vector<std::uint64_t> blocks;
  Op op;
  const NameId first = workload->names().find_object(workload->names().find_host("server").value(), "mr0");
  for (const auto cursor = workload->cursor(1); cursor->next(op);)
    if (op.kind == Kind::post_send) blocks.push_back(op.to.offset / 512 + (op.to.object == first ? 0 : 8));
  REQUIRE(blocks.size() == 20);
  for (std::uint64_t k = 0; k < blocks.size(); ++k) CHECK(blocks[k] == (8 + k) % 16);
}

TEST_CASE("the measured phase lies between two barriers, and the work between them") {
  const auto workload = make_pool(small_shape(), small_pool());
  bool measured = false;
  Op op;
  for (const auto cursor = workload->cursor(0); cursor->next(op);) {
    if (op.kind == Kind::barrier && op.barrier == workload->start_barrier()) measured = true;
    if (op.kind == Kind::barrier && op.barrier == workload->end_barrier()) measured = false;
    const bool work = op.kind == Kind::post_send || op.kind == Kind::poll;
    CHECK(work == (measured && op.kind != Kind::barrier));
  }
}

TEST_CASE("workloads use only what actors carry out, and say so") {
  for (const auto& workload : one_of_each(small_shape())) {
    CHECK_NOTHROW(refuse_unsupported(*workload, carried_out()));
    std::set<std::string> said;
    for (const auto& use : workload->uses()) CHECK(said.insert(use.what).second);
    for (const auto& [kind, n] : count(*workload)) CHECK(said.contains(std::string(name(kind))));
  }
}

TEST_CASE("parameters that do not go together are complained about") {
  Shape shape = small_shape();
  CHECK(check(shape).empty());
  shape.signal_every = 9;
  shape.mtu = Bytes(1500);
  shape.server = "client1";
  const auto complaints = check(shape);
  REQUIRE(complaints.size() == 3);
  CHECK(complaints[0].message == "9 is above the window of 8: no request of a full window would complete visibly");
  CHECK(complaints[1].message == "1500 bytes is no path MTU; allowed: 0B, 256B, 512B, 1KiB, 2KiB, 4KiB");
  CHECK(complaints[2].message == "'client1' is the name of a client too");
  CHECK(check(shape, PoolParams{Bytes(100), Bytes(1000)}).size() == 2);
  CHECK(check(shape, FootprintParams{Bytes(2000), 4}).size() == 1);
  Shape plain = small_shape();
  plain.signal_every = plain.qps = 1;
  CHECK(check(plain, ConnectionsParams{12, 4, 1, {}}).empty());
  const auto connections = check(small_shape(), ConnectionsParams{10, 4, 5, {}});
  REQUIRE(connections.size() == 4);
  CHECK(connections[0].message == "10 cannot be shared out evenly among 6 threads in all");
  CHECK(connections[2].message == "5 is above the 4 that a thread has outstanding");
  const auto chunked = check(shape, ChunkedParams{GiB(1024), KiB(4), 2, 1, ChunkedParams::Touch::none});
  REQUIRE(chunked.size() == 1);
  CHECK(chunked[0].message == "268435456 MRs on each of 2 NICs of 2 clients are too many: more than 16777216 in all");
}

TEST_CASE("the registry knows every kind") {
  CHECK(Workloads::names() == std::vector<std::string>{"chunked", "connections", "dma", "ladder", "per_op", "pool", "registration_cache",
                                                       "sequential", "uniform"});
}
