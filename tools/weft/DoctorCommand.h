//===- DoctorCommand.h - weft doctor --------------------------------------===//
//
// Says what this machine has for training, what is missing, and the command that installs it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_DOCTORCOMMAND_H
#define WEFT_TOOLS_WEFT_DOCTORCOMMAND_H

namespace CLI {
class App;
}

namespace weft {

void addDoctorCommand(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_DOCTORCOMMAND_H
