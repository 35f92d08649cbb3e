# What `cmake --install` lays down. The component `runtime` is the command with its configurations, traces and documents; `development` is
# what a program needs that builds its own simulator of mtsim's parts: find_package(mtsim), target mtsim::mtsim.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(MTSIM_DATA ${CMAKE_INSTALL_DATADIR}/mtsim)
install(TARGETS mtsim RUNTIME COMPONENT runtime)
install(FILES ${PROJECT_BINARY_DIR}/tools/mtsim/mtsim.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
install(DIRECTORY configs traces DESTINATION ${MTSIM_DATA} COMPONENT runtime)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

set(MTSIM_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/mtsim)
install(TARGETS mtsim_archive EXPORT mtsim ARCHIVE COMPONENT development)
install(EXPORT mtsim NAMESPACE mtsim:: FILE mtsimTargets.cmake DESTINATION ${MTSIM_PACKAGE} COMPONENT development)
install(DIRECTORY model/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mtsim COMPONENT development FILES_MATCHING PATTERN "*.h")
configure_package_config_file(cmake/mtsimConfig.cmake.in mtsimConfig.cmake INSTALL_DESTINATION ${MTSIM_PACKAGE}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR MTSIM_DATA)
# Below 1.0 every minor version may change the interfaces.
write_basic_package_version_file(mtsimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mtsimConfig.cmake ${PROJECT_BINARY_DIR}/mtsimConfigVersion.cmake cmake/SystemC.cmake
        DESTINATION ${MTSIM_PACKAGE} COMPONENT development)
