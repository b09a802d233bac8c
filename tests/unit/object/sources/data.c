// Exports what is no function.
int weft_state = 7;
void weft_nothing(void) {}
