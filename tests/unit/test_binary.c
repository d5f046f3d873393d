/*
 * USDT probes of a binary: their notes, and how the kernel names their arguments.
 */
#include "measure/program/binary.h"
#include "measure/program/binary_parts.h"
#include "tap.h"

static const char *argument(const char *arguments, unsigned number)
{
	static char out[USDT_FETCH];

	return usdt_argument(arguments, number, out) ? out : "none";
}

static void test_arguments(void)
{
#if defined(__x86_64__)
	static const struct {
		const char *arguments;
		unsigned number;
		const char *wanted;
	} rows[] = {
	    {"8@%rbx 8@%r15", 1, "%bx:u64"},
	    {"8@%rbx 8@%r15", 2, "%r15:u64"},
	    {"8@%rbx 8@%r15", 3, "none"},
	    {"8@%rbx", 0, "none"},
	    {"-4@112(%rsp)", 1, "+112(%sp):s32"},
	    {"8@(%rax)", 1, "+0(%ax):u64"},
	    {"-4@%eax 2@%cx 1@%dl -1@%sil 4@%r10d 1@%r8b", 1, "%ax:s32"},
	    {"-4@%eax 2@%cx 1@%dl -1@%sil 4@%r10d 1@%r8b", 2, "%cx:u16"},
	    {"-4@%eax 2@%cx 1@%dl -1@%sil 4@%r10d 1@%r8b", 3, "%dx:u8"},
	    {"-4@%eax 2@%cx 1@%dl -1@%sil 4@%r10d 1@%r8b", 4, "%si:s8"},
	    {"-4@%eax 2@%cx 1@%dl -1@%sil 4@%r10d 1@%r8b", 5, "%r10:u32"},
	    {"-4@%eax 2@%cx 1@%dl -1@%sil 4@%r10d 1@%r8b", 6, "%r8:u8"},
	    {"-4@-20(%rbp)  8@%rdi", 1, "-20(%bp):s32"},
	    {"-4@-20(%rbp)  8@%rdi", 2, "%di:u64"},
	    {"4@$5", 1, "none"},
	    {"8@table(%rip)", 1, "none"},
	    {"8@8(%rax,%rbx,8)", 1, "none"},
	    {"8f@%xmm0", 1, "none"},
	    {"%rbx", 1, "none"},
	    {"3@%rbx", 1, "none"},
	    {"8@", 1, "none"},
	    {"8@%", 1, "none"},
	    {"8@(", 1, "none"},
	    {"", 1, "none"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_str(argument(rows[i].arguments, rows[i].number), rows[i].wanted, "argument %u of '%s'",
		       rows[i].number, rows[i].arguments);
#elif defined(__aarch64__)
	is_str(argument("8@x0 -4@w3 8@[sp, 40] 8@[x19]", 1), "%x0:u64", "in a register");
	is_str(argument("8@x0 -4@w3 8@[sp, 40] 8@[x19]", 2), "%x3:s32", "in half of one");
	is_str(argument("8@x0 -4@w3 8@[sp, 40] 8@[x19]", 3), "+40(%sp):u64", "in memory");
	is_str(argument("8@x0 -4@w3 8@[sp, 40] 8@[x19]", 4), "+0(%x19):u64", "in memory, at a register");
#endif
}

static void test_note(void)
{
	static const uint8_t wide[] = "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0shop\0begin\0008@%rbx",
			     narrow[] = "\1\0\0\0\2\0\0\0\3\0\0\0shop\0begin\0";
	struct usdt_note note;
	bool whole = false;

	ok(usdt_note_read(wide, sizeof(wide), 8, &note), "a note is read");
	ok(note.address == 1 && note.base == 2 && note.semaphore == 3, "with its addresses");
	is_str(note.provider, "shop", "provider");
	is_str(note.name, "begin", "name");
	is_str(note.arguments, "8@%rbx", "and arguments");
	for (size_t size = 0; size < sizeof(wide); size++)
		whole |= usdt_note_read(wide, size, 8, &note);
	ok(!whole, "a shorter one is not whole");
	ok(usdt_note_read(narrow, sizeof(narrow), 4, &note) && note.semaphore == 3 && !*note.arguments,
	   "a note of 32 bits, without arguments");
	ok(!usdt_note_read(wide, sizeof(wide), 2, &note), "there are no other addresses");
}

static void test_names(void)
{
	ok(binary_is_usdt("python:gc__start"), "PROVIDER:NAME is a USDT probe");
	ok(!binary_is_usdt("serve") && !binary_is_usdt("shop::serve(std::string)"), "functions are none");
	ok(!binary_is_usdt(":serve") && !binary_is_usdt("shop:"), "nor is half a name");
}

int main(void)
{
	test_arguments();
	test_note();
	test_names();
	return done_testing();
}
