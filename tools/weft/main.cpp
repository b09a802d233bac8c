#include <cstdio>

int main() {
  std::printf("weft %s\n", WEFT_VERSION);
  return 0;
}
