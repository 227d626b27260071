#pragma once
#include <thrust/emulated_thrust.h>
