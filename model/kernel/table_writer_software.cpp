// No device at all: the CPU stores the page array, and that is the table (rxe, siw: sw/rxe/rxe_mr.c, sw/siw/siw_mem.c).
#include <cerrno>

#include "kernel/table_writer.h"

namespace mtsim::kernel {
namespace {

class SoftwareWriter : public TableWriter {
 public:
  explicit SoftwareWriter(const TableWriterContext& context) : context_(context) {}

  engine::Task<int> load(Call& call, const translate::Region& region, const KeyGrant&) override {
    translate::TableWrites writes;
    if (!context_.tables.architecture().build(region, writes)) co_return ENOMEM;
    co_await call.work(Call::Step::table_write, ports::Work::table,
                       context_.params.store_entry * static_cast<std::int64_t>(writes.entries));
    call.cost().list_bytes += writes.table_bytes();
    context_.tables.commit(writes);
    co_return 0;
  }

  engine::Task<int> rewrite(Call&, const translate::Region& region) override {
    const auto writes = context_writes(context_, region);
    if (writes) context_.tables.commit(*writes);
    co_return writes ? 0 : ENOMEM;
  }

  bool commands() const override { return false; }

  engine::Task<int> revoke(Call&, Key key, bool) override {
    context_.tables.commit(context_.tables.architecture().drop(key));
    co_return 0;
  }

 private:
  TableWriterContext context_;
};

const TableWriters::Entrant registered("software", "the CPU stores the page array, there is no device (rxe, siw)",
                                       [](const TableWriterContext& context) { return std::make_unique<SoftwareWriter>(context); });

}  // namespace
}  // namespace mtsim::kernel
