// Would run while it is unloaded.
static volatile int unloaded;
__attribute__((destructor)) static void stop(void) { unloaded = 1; }
void weft_nothing(void) {}
