# What every target of the project is compiled with.
add_library(mtsim_options INTERFACE)
target_include_directories(mtsim_options INTERFACE ${PROJECT_SOURCE_DIR}/model)
target_compile_options(mtsim_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual
                                               -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  # False alarms of these versions: on "literal" + std::string, and with the sanitizers on.
  target_compile_options(mtsim_options INTERFACE -Wno-restrict $<$<BOOL:${MTSIM_SANITIZE}>:-Wno-maybe-uninitialized>)
endif()
if(MTSIM_WERROR)
  target_compile_options(mtsim_options INTERFACE -Werror)
endif()
if(MTSIM_SANITIZE)
  target_compile_options(mtsim_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1)
  target_link_options(mtsim_options INTERFACE -fsanitize=address,undefined)
endif()
target_compile_definitions(mtsim_options INTERFACE MTSIM_VERSION="${PROJECT_VERSION}")

# mtsim_header(NAME LIBS libs... HEADERS headers...): headers precompiled once, for all targets that name NAME in REUSE_FROM. Nothing leans
# on them: every source includes what it uses, and -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without.
function(mtsim_header name)
  cmake_parse_arguments(header "" "" "LIBS;HEADERS" ${ARGN})
  add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/cmake/header.cpp)
  target_link_libraries(${name} PUBLIC mtsim_options ${header_LIBS})
  target_precompile_headers(${name} PRIVATE ${header_HEADERS})
endfunction()

set(MTSIM_COMMON_HEADERS <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <string> <string_view> <vector> <fmt/format.h>)
mtsim_header(mtsim_plain_header LIBS fmt::fmt yaml-cpp HEADERS ${MTSIM_COMMON_HEADERS})
mtsim_header(mtsim_systemc_header LIBS mtsim_systemc fmt::fmt yaml-cpp HEADERS ${MTSIM_COMMON_HEADERS} <coroutine> <deque> <systemc>)

# mtsim_component(NAME plain|systemc [HOT] LIBS...): every .cpp of the current folder, as an OBJECT library so that components which only
# register themselves are not dropped by the linker. A new component is a new file; no list is edited. HOT: on the path of every
# operation, so worth more of the compiler's time.
function(mtsim_component name kind)
  cmake_parse_arguments(component "HOT" "" "" ${ARGN})
  set(libs fmt::fmt yaml-cpp ${component_UNPARSED_ARGUMENTS})
  if(kind STREQUAL systemc)
    list(PREPEND libs mtsim_systemc)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    add_library(mtsim_${name} OBJECT ${sources})
    target_link_libraries(mtsim_${name} PUBLIC mtsim_options ${libs})
    target_precompile_headers(mtsim_${name} REUSE_FROM mtsim_${kind}_header)
    if(component_HOT AND NOT MTSIM_SANITIZE)
      target_compile_options(mtsim_${name} PRIVATE $<$<CONFIG:Release>:-O3>)
    endif()
  else()
    add_library(mtsim_${name} INTERFACE)
    target_link_libraries(mtsim_${name} INTERFACE mtsim_options ${libs})
  endif()
  set_property(GLOBAL APPEND PROPERTY MTSIM_COMPONENTS mtsim_${name})
endfunction()

# mtsim_test(SUITE TIER SECONDS LIBS...): every .cpp of tests/SUITE as one Catch2 program. TIER is `fast` or `long`; long suites run
# with `tools/test --all` only. SECONDS is what the suite is expected to take on two cores.
function(mtsim_test suite tier seconds)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${suite}/*.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" target test_${suite})
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE ${ARGN} mtsim_catch_main)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${target} PRIVATE MTSIM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_precompile_headers(${target} REUSE_FROM mtsim_test_header)
  add_test(NAME ${suite} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  math(EXPR limit "${seconds} * 10 + 60")
  set_tests_properties(${suite} PROPERTIES LABELS ${tier} TIMEOUT ${limit} COST ${seconds})
endfunction()
