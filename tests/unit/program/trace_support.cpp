#include "unit/program/trace_support.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/error.h"

namespace mtsim::program::test {

namespace fs = std::filesystem;

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "mtsim-test-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary directory");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TemporaryDirectory::file(const std::string& name, std::string_view bytes) const {
  const fs::path path = path_ / name;
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path.string();
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Op> operations(const Program& program) {
  std::vector<Op> out;
  for (ActorId actor = 0; actor < program.names().actors().size(); ++actor) {
    const auto cursor = program.cursor(actor);
    for (Op op; cursor->next(op);) out.push_back(op);
  }
  return out;
}

std::vector<Op> operations(std::string_view text, const TraceOptions& options) {
  const TemporaryDirectory directory;
  return operations(*open_trace(directory.file("t.mtrace", "mtrace 1\n" + std::string(text)), options));
}

std::vector<std::string> messages(std::string_view text, const std::string& name) {
  const TemporaryDirectory directory;
  const std::string path = directory.file(name, text);
  try {
    open_trace(path);
    return {};
  } catch (const UserError& e) {
    std::vector<std::string> out;
    for (std::string message : e.messages()) {
      const std::string prefix = directory.path().string() + "/";
      if (message.starts_with(prefix)) message.erase(0, prefix.size());
      out.push_back(std::move(message));
    }
    return out;
  }
}

std::vector<std::string> recorded_traces() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(MTSIM_SOURCE_DIR "/traces/recorded"))
    if (entry.path().string().find(".mtrace") != std::string::npos) out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  const std::size_t step = (out.size() + recorded_trace_count - 1) / recorded_trace_count;
  for (std::size_t i = 0; i * step < out.size(); ++i) out[i] = out[i * step];
  out.resize((out.size() + step - 1) / step);
  return out;
}

std::string difference(const Op& a, const Names& names_a, const Op& b, const Names& names_b) {
  std::string out;
  const auto check = [&](bool same, const char* field) {
    if (!same) out += std::string(field) + ' ';
  };
  const auto name = [&](NameId x, NameId y) {
    if (x == 0 || y == 0) return x == y;
    return names_a.object_name(x) == names_b.object_name(y) && names_a.hosts()[names_a.host_of(x)] == names_b.hosts()[names_b.host_of(y)];
  };
  const auto address = [&](const AddressRef& x, const AddressRef& y) { return name(x.object, y.object) && x.offset == y.offset; };
  const auto key = [&](const KeyRef& x, const KeyRef& y) {
    return x.form == y.form && name(x.object, y.object) && x.add == y.add && x.flip == y.flip && x.raw == y.raw;
  };
  check(a.kind == b.kind, "kind");
  check(names_a.actors()[a.actor].name == names_b.actors()[b.actor].name, "actor");
  check(a.at_ns == b.at_ns, "at_ns");
  check(name(a.id, b.id), "id");
  check(name(a.pd, b.pd) && name(a.qp, b.qp) && name(a.cq, b.cq) && name(a.recv_cq, b.recv_cq), "pd/qp/cq/recv_cq");
  check(name(a.srq, b.srq) && name(a.mr, b.mr) && name(a.mw, b.mw) && name(a.peer, b.peer) && name(a.ud, b.ud), "srq/mr/mw/peer/ud");
  check(a.kind != Kind::barrier || names_a.barrier_name(a.barrier) == names_b.barrier_name(b.barrier), "barrier");
  check(a.count == b.count, "count");
  check(address(a.address, b.address), "address");
  check(a.length == b.length && a.offset == b.offset && a.whole == b.whole, "length/offset/whole");
  check(a.flag == b.flag, "flag");
  check(a.number == b.number, "number");
  check(a.iova == b.iova && a.has_iova == b.has_iova, "iova");
  check(a.access == b.access && a.has_access == b.has_access, "access");
  check(a.word == b.word, "word");
  const auto& m = a.mmap;
  const auto& n = b.mmap;
  check(m.length == n.length && m.page == n.page && m.readable == n.readable && m.writable == n.writable && m.shared == n.shared &&
            m.populate == n.populate && m.backing == n.backing && m.align == n.align && m.at == n.at,
        "mmap");
  const auto& p = a.create_qp;
  const auto& q = b.create_qp;
  check(p.type == q.type && p.sq_depth == q.sq_depth && p.rq_depth == q.rq_depth && p.send_sge == q.send_sge && p.recv_sge == q.recv_sge &&
            p.inline_bytes == q.inline_bytes && p.access == q.access && p.signal_all == q.signal_all && p.timeout == q.timeout &&
            p.retry == q.retry && p.rnr_retry == q.rnr_retry && p.rnr_timer == q.rnr_timer && p.rd_atomic == q.rd_atomic &&
            p.dest_rd_atomic == q.dest_rd_atomic && p.mtu == q.mtu,
        "create_qp");
  check(a.state == b.state, "state");
  check(a.wr == b.wr && a.has_wr == b.has_wr, "wr");
  check(a.idle == b.idle && a.wait == b.wait, "idle/wait");
  check(a.opcode == b.opcode && a.flags == b.flags && a.more == b.more, "opcode/flags/more");
  check(std::equal(
            a.sges.begin(), a.sges.end(), b.sges.begin(), b.sges.end(),
            [&](const SgeRef& x, const SgeRef& y) { return address(x.address, y.address) && x.length == y.length && key(x.key, y.key); }),
        "sges");
  check(address(a.to, b.to) && a.has_to == b.has_to, "to");
  check(key(a.to_key, b.to_key) && key(a.inv, b.inv) && key(a.new_key, b.new_key), "to_key/inv/new_key");
  check(a.immediate == b.immediate && a.has_immediate == b.has_immediate, "immediate");
  check(a.compare == b.compare && a.swap == b.swap && a.add == b.add, "compare/swap/add");
  check(a.depth == b.depth && a.sge_limit == b.sge_limit && a.mw_type == b.mw_type, "depth/sge_limit/mw_type");
  check(a.expect.given == b.expect.given && a.expect.any == b.expect.any && a.expect.words == b.expect.words &&
            a.expect.by_wr == b.expect.by_wr,
        "expect");
  check(a.hazard == b.hazard, "hazard");
  return out;
}

std::string_view whole_grammar() {
  return R"(mtrace 1
# every operation, opcode and key
meta source="by hand" shows="each # word"
meta empty=""
host a cpus=2
host b
a.t0 mmap buf len=64K page=thp prot=rw share=shared backing=file populate=1 align=2M at=8K expect=ok
a.t0 mmap big len=1G page=1G prot=none backing=io
a.t0 mmap two len=2MiB page=2M prot=r share=private backing=anon populate=0
@5 a.t0 mprotect buf prot=none off=4K len=4KiB
a.t0 mprotect buf prot=rw
a.t0 touch buf
a.t0 touch buf off=4096 len=0x1000 write=0
a.t0 touch buf off=4K
a.t0 copy buf to=two len=100 expect=any
a.t0 migrate buf
a.t0 migrate buf off=0 len=4K
a.t0 swapout buf off=4K len=4K
a.t0 memlock limit=64K
a.t0 memlock limit=unlimited
a.t0 cap_ipc_lock 0
a.t0 cap_ipc_lock 1
a.t0 fork_init
a.t0 fork_init safe=0
a.t0 fork copy
a.copy_t0 compute 10
a.t0 madvise buf advice=dontfork
a.t0 madvise buf advice=hugepage off=0 len=64K
a.t0 alloc_pd pd dev=nic0
a.t0 reg_mr mr pd=pd addr=buf+4K len=8K access=lw,rr,rw,ra,mw,zb,od,ht,ro iova=0x10000 expect=ok|ENOMEM
a.t0 reg_mr low pd=pd addr=buf-1 len=1 access=0 iova=4096
a.t0 reg_mr all pd=pd addr=0 len=all access=od
a.t0 reg_mr raw pd=pd addr=0x7fff0000 len=4K access=lw expect=EFAULT
a.t0 rereg_mr mr
a.t0 rereg_mr mr trans addr=buf len=4K pd=pd access=lw,rw
a.t0 rereg_mr mr access=0
a.t0 advise_mr prefetch pd=pd sge=buf+0:4K:all,all+4K:8K
a.t0 advise_mr prefetch_no_fault pd=pd sge=mr:1 flush=1
a.t0 dma mr type=read len=64 n=1000 depth=38 window=4K seed=7 cache=warm by=core
a.t0 dma mr type=write_read len=8 n=1 cache=cold by=engine expect=EINVAL
a.t0 alloc_mr fast pd=pd max=16
a.t0 alloc_mw mw pd=pd type=1
a.t0 alloc_mw mw2 pd=pd type=2
a.t0 create_cq cq
a.t0 create_cq cq2 depth=16
a.t0 create_srq srq pd=pd
a.t0 create_srq srq2 pd=pd depth=16 sge=2
a.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq2 srq=srq sq=16 rq=17 send_sge=1 recv_sge=2 inline=64 access=lw,rr sig_all=1 timeout=10 retry=6 rnr_retry=5 rnr_timer=20 rd_atomic=8 dest_rd_atomic=4 mtu=3
a.t0 create_qp uc pd=pd type=uc scq=cq rcq=cq mtu=4096
a.t0 create_qp ud pd=pd type=ud scq=cq rcq=cq
b.t0 alloc_pd pd
b.t0 mmap buf len=4K
b.t0 reg_mr mr pd=pd addr=buf len=4K access=lw,rw expect.rxe-6.1=EINVAL
b.t0 create_cq cq
b.t0 create_qp qp pd=pd type=rc scq=cq rcq=cq
b.t0 create_qp ud pd=pd type=ud scq=cq rcq=cq
a.t0 barrier up n=2
b.t0 barrier up n=2
a.t0 connect qp to=b.qp
a.t0 modify_qp ud state=init
a.t0 modify_qp ud state=rtr
a.t0 modify_qp ud state=rts
a.t0 bind_mw mw qp=qp mr=mr addr=mr+16 len=64 access=rw wr=1
a.t0 bind_mw mw qp=qp mr=mr addr=mr len=64 access=0
a.t0 post_send qp wr=2 send sge=mr:64,buf+4K:32:mr.lkey flags=signaled,fence,solicited,more
a.t0 post_send qp wr=3 send_imm imm=0xffffffff sge=buf:8 flags=inline
a.t0 post_send qp wr=4 send_inv inv=b.mr.rkey
a.t0 post_send ud wr=5 send sge=mr:64 ud=b.ud
a.t0 post_send qp wr=6 write sge=mr:4K to=b.mr+16 flags=signaled
a.t0 post_send qp wr=8 write_imm sge=mr-8:16 to=b.buf+0:b.mr+1 imm=7
a.t0 post_send qp wr=9 read sge=mr:16:low^255 to=0xdead0000:0x1234
a.t0 post_send qp wr=10 cas sge=mr:8 to=b.mr cmp=1 swp=0xffffffffffffffff
a.t0 post_send qp wr=11 faa to=b.mr:b.mr.rkey+2 add=18446744073709551615
a.t0 post_send qp wr=12 bind_mw mw=mw2 mr=mr addr=mr+16 len=64 access=rr,rw key=mw2+1
a.t0 post_send qp wr=13 local_inv inv=mw2
a.t0 post_send qp wr=14 reg_mr mr=fast addr=buf len=4K access=lw key=0x100
a.t0 post_send qp wr=15 write to=0x0:0x0
a.t0 post_send qp wr=16 write sge=buf:0 to=0
a.t0 post_recv qp wr=17
a.t0 post_recv qp wr=18 sge=mr:64 flags=more
a.t0 post_srq srq wr=19 sge=mr:64,mr+64:64 expect=ENOMEM
a.t0 poll cq
a.t0 poll cq n=3 wait=event expect=SUCCESS|WR_FLUSH_ERR
a.t0 poll cq wr=2 wait=spin expect=any hazard=stale
a.t0 poll cq n=2 expect=6:SUCCESS,8:REM_ACCESS_ERR|REM_OP_ERR,9:any hazard=none
a.t0 poll cq idle=1000
a.t0 poll cq n=2 expect.ib=LOC_PROT_ERR expect.rxe-6.1=LOC_QP_OP_ERR expect=any hazard=foreign
a.t0 sleep 100
a.t0 query_qp qp expect=rts|err
a.t0 event expect=QP_ACCESS_ERR|QP_FATAL
a.t0 event expect=any
a.t0 dealloc_mw mw
a.t0 dereg_mr mr
a.t0 munmap buf
a.t0 munmap two off=4K len=4K
a.t0 destroy_qp qp
a.t0 destroy_srq srq
a.t0 destroy_cq cq
a.t0 dealloc_pd pd
)";
}

}  // namespace mtsim::program::test
