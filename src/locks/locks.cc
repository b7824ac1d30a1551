#include "evenkeel/locks/locks.h"
