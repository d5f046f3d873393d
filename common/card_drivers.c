#include "common/card_drivers.h"

#include <stddef.h>

#include "common/text.h"

bool card_driver_hands_over(const char *driver)
{
	static const char *const all[] = {DRIVER_VFIO, DRIVER_UIO, DRIVER_UIO_OF_DPDK, "pci-stub", NULL};

	return text_is_among(driver, all);
}

bool card_driver_shares(const char *driver)
{
	static const char *const all[] = {"mlx5_core", "mlx4_core", "mana", NULL};

	return text_is_among(driver, all);
}
