# What every target of the project is compiled with.
add_library(mtsim_options INTERFACE)
target_include_directories(mtsim_options INTERFACE ${PROJECT_SOURCE_DIR}/model)
target_compile_options(mtsim_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual
                                               -Woverloaded-virtual -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  # False alarms of these versions: on "literal" + std::string, and with the sanitizers on.
  target_compile_options(mtsim_options INTERFACE -Wno-restrict $<$<BOOL:${MTSIM_SANITIZE}>:-Wno-maybe-uninitialized>)
endif()
if(MTSIM_WERROR)
  target_compile_options(mtsim_options INTERFACE -Werror)
endif()
if(MTSIM_SANITIZE)
  target_compile_options(mtsim_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined -g1)
  target_link_options(mtsim_options INTERFACE -fsanitize=address,undefined)
endif()
target_compile_definitions(mtsim_options INTERFACE MTSIM_VERSION="${PROJECT_VERSION}")

# mtsim_component(NAME LIBS...): every .cpp of the current folder, as an OBJECT library so that components which only register
# themselves are not dropped by the linker. A new component is a new file; no list is edited.
function(mtsim_component name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    add_library(mtsim_${name} OBJECT ${sources})
    target_link_libraries(mtsim_${name} PUBLIC mtsim_options ${ARGN})
  else()
    add_library(mtsim_${name} INTERFACE)
    target_link_libraries(mtsim_${name} INTERFACE mtsim_options ${ARGN})
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
