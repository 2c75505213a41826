/* A shared library that is no provider. */
int trv_nothing(void);
int trv_nothing(void) { return 0; }
