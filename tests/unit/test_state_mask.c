/* What tells one machine from another is hidden, and nothing else. */
#include "common/err.h"
#include "common/fs.h"
#include "common/sysroot.h"
#include "files/state/mask.h"
#include "tap.h"

static void masked(const struct mask *m, const char *path, const char *text, const char *want)
{
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", text);
	mask_file(m, path, copy, strlen(copy));
	is_str(copy, want, "%s", text);
}

int main(void)
{
	static const char *const rows[][2] = {
	    {"02:fc:00:00:00:05\n", "00:00:00:00:00:00\n"},
	    {"a 0c42:a103:0012:3456 b", "a 0000:0000:0000:0000 b"},
	    {"fe80:0000:0000:0000:0e42:a1ff:fe12:3456", "0000:0000:0000:0000:0000:0000:0000:0000"},
	    {"80:00:02:08:fe:80:00:00:00:00:00:00:0c:42:a1:03:00:12:34:56",
	     "00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00"},
	    {"root=UUID=8a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9 ro", "root=UUID=00000000-0000-0000-0000-000000000000 ro"},
	    {"net.enx0c42a1123456.mtu", "net.enx000000000000.mtu"},
	    {"guid 0x0c42a10300123456", "guid 0x0000000000000000"},
	    {"lab7 lab7. /lab7/ LAB7", "xxxx xxxx. /xxxx/ LAB7"},
	    {"lab77 collab7 lab7-b", "lab77 collab7 lab7-b"},
	    {"0000:01:00.0 12:34:56 2026-11-21 0-3,8 18446744073709551615",
	     "0000:01:00.0 12:34:56 2026-11-21 0-3,8 18446744073709551615"},
	    {"ff,00000003 0x1f 10.0.0.1", "ff,00000003 0x1f 10.0.0.1"},
	    {"usb 1-1: SerialNumber: 0A-12.b", "usb 1-1: SerialNumber: xx-xx.x"},
	    {"usb: New USB device strings: Mfr=1, SerialNumber=3\nnext",
	     "usb: New USB device strings: Mfr=1, SerialNumber=x\nnext"},
	    {"nvme0: Serial Number: S4EV, firmware 2", "nvme0: Serial Number: xxxx, firmware 2"},
	    {"S/N=77AB root=PARTUUID=deadbeef-02 rw", "S/N=xxxx root=PARTUUID=xxxxxxxx-xx rw"},
	    {"serial8250: ttyS0 at I/O 0x3f8", "serial8250: ttyS0 at I/O 0x3f8"},
	    {"serial", "serial"},
	    {"serial: ", "serial: "},
	    {"", ""},
	    {":", ":"},
	    {"enx", "enx"},
	    {"aa:bb:cc:dd:ee", "aa:bb:cc:dd:ee"},
	};
	struct err e = ERR_INIT;
	struct sysroot root;
	struct mask m;
	char *base = tap_dir(), *dir = fs_path("%s/proc/sys/kernel", base), *file = fs_path("%s/hostname", dir);

	fs_mkdirs(dir, &e);
	tap_file(file, "lab7\n", 5);
	is_int(sysroot_open(&root, base, &e), 0, "a machine %s", e.text);
	mask_init(&m, &root);
	is_str(m.host, "lab7", "its name");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		masked(&m, "/any", rows[i][0], rows[i][1]);
	masked(&m, "/sys/class/dmi/id/board_serial", ".ABC-12/3.\n", ".xxx-xx/x.\n");
	masked(&m, "/sys/class/dmi/id/board_name", "ABC-12/3\n", "ABC-12/3\n");
	tap_file(file, "pc\n", 3);
	mask_init(&m, &root);
	masked(&m, "/any", "pc pc", "pc pc");
	sysroot_close(&root);
	tap_dir_remove(base);
	free(dir);
	free(file);
	return done_testing();
}
