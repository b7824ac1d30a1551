#pragma once
// --to FORM: the form in which a broker's config is written.

#include <array>
#include <optional>
#include <string_view>

#include "evenkeel/broker/config_file.h"
#include "evenkeel/cli/command.h"

namespace evenkeel::cli {

// In the order of broker::ConfigForm.
inline constexpr std::array<std::string_view, 4> config_form_names = {"yaml", "json", "protobuf", "compaction"};

CLI::Option* add_config_form(CLI::App& command, Session& session, std::optional<broker::ConfigForm>& form,
                             std::string_view otherwise);

}  // namespace evenkeel::cli
