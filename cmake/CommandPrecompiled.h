// What the commands of tools/weft include besides: CLI11 is most of what there is to compile in them.
#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
