// Keeps something per thread.
static _Thread_local int calls;
void weft_count(void) { ++calls; }
