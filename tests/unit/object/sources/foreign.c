// Calls what objects may not call.
int system(const char *);
void weft_call(void) { system("true"); }
