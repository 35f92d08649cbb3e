# `cpack -G DEB` in the build folder: mtsim (the command and what it ships) and libmtsim-dev (find_package).
set(CPACK_PACKAGE_NAME mtsim)
set(CPACK_PACKAGE_VENDOR "The mtsim authors")
set(CPACK_PACKAGE_CONTACT "The mtsim authors <maintainers@mtsim.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "cycle-level simulator of RDMA memory translation and protection")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development)

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME mtsim)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "mtsim simulates what it costs to register memory for RDMA, and what the\nnetwork adapter pays to translate and protect it afterwards: from\nibv_reg_mr in the kernel to the last completion. It replays recorded or\ngenerated programs on hosts described in YAML.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libmtsim-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# mtsim has the configurations that the package names.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "mtsim (= ${PROJECT_VERSION}), libsystemc-dev, libboost-iostreams-dev, libyaml-cpp-dev, libfmt-dev, libzstd-dev, nlohmann-json3-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "Headers, static library and CMake package (find_package(mtsim)) for programs\nthat build a simulator with components of their own.")

# Debian looks for the license under this name in each package.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/mtsim RENAME copyright COMPONENT runtime)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libmtsim-dev RENAME copyright COMPONENT development)
include(CPack)
