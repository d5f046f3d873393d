/*
 * Names of functions as C++ and Rust write them.
 */
#include "measure/program/binary_demangle.h"
#include "tap.h"

/* `other`: it is not called so. */
static const struct {
	const char *symbol, *name, *other;
} rows[] = {
    /* Rust, as until 2025 */
    {"_ZN4shop5serve17h0123456789abcdefE", "shop::serve", "shop::serv"},
    {"_ZN4shop5serve28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "shop::serve::{{closure}}", "shop::serve"},
    {"_ZN42_$LT$shop..Shop$u20$as$u20$shop..Serve$GT$5serve17h0123456789abcdefE", "<shop::Shop as shop::Serve>::serve",
     "shop::Shop::serve"},
    {"_ZN4shop5serve17h0123456789abcdefE", "_ZN4shop5serve17h0123456789abcdefE", "serve"},
    /* and since then (v0) */
    {"_RNvCsf1z8G7XPNsX_5cargo4main", "cargo::main", "cargo::mai"},
    {"_RNvNtCsf1z8G7XPNsX_5cargo3cli3cli", "cargo::cli::cli", "cargo::cli"},
    {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>", "std::mem::align"},
    {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of", "std::mem::align_of::<f32>"},
    {"_RNCNvC4shop5serve0B3_", "shop::serve::{closure#0}", "shop::serve"},
    /* C++ */
    {"_ZN4shop5serveEl", "shop::serve(long)", "shop::serve(int)"},
    {"_ZN4shop5serveEl", "shop::serve", "shop::serve("},
    {"_ZNK4shop5serveEi", "shop::serve(int)", "shop::serv"},
    {"_ZNK4shop5serveEi", "shop::serve(int) const", "shop::serve() const"},
    {"_Z3maxIiET_S0_S0_", "max<int>(int,int)", "max<long>"},
    {"_Z3maxIiET_S0_S0_", "max<int>", "max<int"},
    {"_Z3maxIiET_S0_S0_", "max", "int"},
    {"_ZN4shop5tableIiE3addEi", "shop::table<int>::add", "shop::table"},
    {"_ZN4shop5serveB5cxx11Ev", "shop::serve", "shop::serve[abi"},
    {"_ZN12_GLOBAL__N_15serveEi", "(anonymous namespace)::serve", "serve"},
    {"_ZN4shop4ShopclEi", "shop::Shop::operator()", "shop::Shop"},
    {"_Z5servei.actor", "_Z5servei.actor", "serve(int)"},
    {"_Z5servei.actor", "serve(int) [clone .actor]", "serve"},
    /* anything else */
    {"main", "main", "main()"},
    {"_Z9main_testv", "main_test", "main"},
    {"main.(*Server).serve", "main.(*Server).serve", "main"},
    {"_Z", "_Z", ""},
    {"_R", "_R", "R"},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ok(binary_is_named(rows[i].symbol, rows[i].name), "%s is called %s", rows[i].symbol, rows[i].name);
		ok(!binary_is_named(rows[i].symbol, rows[i].other), "and not %s", rows[i].other);
	}
	return done_testing();
}
