// One main for every Catch2 suite. SystemC brings a main of its own that calls sc_main; naming ours `main` takes precedence because
// the library's is a weak archive member.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <systemc>

int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
