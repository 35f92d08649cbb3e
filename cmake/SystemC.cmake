# SystemC, as the target mtsim_systemc. Debian's 2.3.4 is built as C++17 and says so in its version symbol; stating the same standard lets
# C++20 code link. Installed beside the package's configuration, which includes it too.
find_path(SYSTEMC_INCLUDE systemc REQUIRED)
find_library(SYSTEMC_LIBRARY systemc REQUIRED)
add_library(mtsim_systemc INTERFACE)
target_include_directories(mtsim_systemc SYSTEM INTERFACE ${SYSTEMC_INCLUDE})
target_compile_definitions(mtsim_systemc INTERFACE SC_CPLUSPLUS=201703L SC_INCLUDE_FX=0)
target_link_libraries(mtsim_systemc INTERFACE ${SYSTEMC_LIBRARY} Threads::Threads)
