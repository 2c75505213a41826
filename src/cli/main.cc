#include "cli/command.h"

int main(int argc, char** argv) { return trivet::cli::run_program(argc, argv); }
