// A function that code chooses while it is loaded.
static void one(void) {}
static void (*choose(void))(void) { return one; }
void weft_chosen(void) __attribute__((ifunc("choose")));
