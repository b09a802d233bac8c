// Would run while it is loaded.
static volatile int loaded;
__attribute__((constructor)) static void start(void) { loaded = 1; }
void weft_nothing(void) {}
