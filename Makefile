# kblat: `make run` measures, `make check` and `make test` run tests; on Debian all install missing packages (see `make deps`).
#
#   CC=clang        another compiler           BUILD=DIR   another build folder
#   SAN=1           ASan and UBSan (in build/san)
#   WERROR=1        warnings are errors, as for those who change kblat
#   WITHOUT='A B'   leaves out features of common/features, though their libraries are there; all: whatever can be left out
#   CFLAGS, CPPFLAGS, LDFLAGS, PKG_CONFIG   as usual
#   SUITES=LIST     suites that `make coverage` runs, such as 'unit cli:doctor' (default: all native ones)
#   SECONDS=N       how long `make fuzz` runs each of its TARGETS (default: all)
#   ROUNDS=N        number of rounds of `make fuzz` (default: one) and of each case of `make bench` (default: until it is decided)
#   RESUME=yes      `make bench` goes on where it was interrupted
#   MINUTES=N       about how long `make bench` may take (default: 50)
#   JOBS=N          number of targets that `make fuzz` runs at the same time
#   VM=no           tests without the Soft-RoCE guest
#   V=1             show whole commands
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
SAN     :=
COV     :=
BUILD   := build$(if $(SAN),/san)
# Names with blanks are several to make. Below a folder with blanks, a relative path has none.
ifneq ($(words $(BUILD)),1)
override BUILD := $(shell realpath -m --relative-to=. -- '$(BUILD)')
endif
$(if $(word 2,$(BUILD)),$(error BUILD=$(BUILD): make cannot build in a folder whose path has blanks; choose another, or a relative path without))
PREFIX  := /usr/local
DESTDIR :=
VM      := yes
CPUS    := $(shell nproc)
# Where nothing but building is asked for, `make` uses all CPUs; -j1 on its command line wins.
ifeq ($(MAKELEVEL)$(filter-out all units benches fuzzers man,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(CPUS)
endif
Q       := $(if $(V),,@)

# The version is the newest of debian/changelog; a tarball knows its commit from common/commit (.gitattributes).
VERSION := $(shell awk -F'[()]' 'NR == 1 {print $$2}' debian/changelog)
COMMIT  := $(shell grep -v Format common/commit | cut -c1-12)
ifeq ($(COMMIT),)
COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)$(shell git diff --quiet HEAD 2>/dev/null || echo +)
endif

comma   := ,
WARN    := -Wall -Wextra $(if $(WERROR),-Werror) -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wno-missing-field-initializers
# Compiling is mostly optimising, and folders that wait for disks and people gain nothing from -O2. -g1 is enough for backtraces and for perf; for gdb,
# use CFLAGS='-Og -g3' and another BUILD. With sanitizers, options that make compiling, linking and starting fast (190000 relocations less), as each
# test starts many processes. With -O1 gcc warns about more formats than with -O2.
COLD    := common tuning $(addprefix harness/,commands doctor report study files/claim files/observatory files/state) \
           $(addprefix harness/measure/,endpoint placement point program run spec trace) $(addprefix harness/judge/,claims compare index observatory)
O       := -O2
CFLAGS  ?= $(if $(SAN),$(if $(FUZZ),-O2 -g,-O1 -g1 -Wno-format),$(if $(COV),-O0 -Wno-format,$O) -g1)
LESS    := -O1 $(if $(findstring clang,$(CC)),,-Wno-format-truncation)
$(patsubst %,$(BUILD)/%/%.o,$(COLD)): O := $(LESS)
$(BUILD)/unit/%: private O := $(LESS)
$(BUILD)/common/sort.o $(BUILD)/common/random.o: O := -O2
SANFLAGS:= $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all -fno-pie) $(if $(FUZZ),-fsanitize=fuzzer-no-link -DWINDOW_BITS=8 -DSTATS_KEPT_MAX=64)

# For `make coverage`: counts of lines, which are kept by processes that are killed, too (tests/coverage/keep_counts.c).
COVFLAGS:= $(if $(COV),--coverage -fprofile-update=atomic)
COVKEEP := $(if $(COV),$(BUILD)/tests/coverage/keep_counts.o)

# Which libraries there are (common/features): FEATURE_CFLAGS, KBLAT_LIBS, KBTUNE_LIBS, LEFT_OUT, ABSENT (transports) and ABSENT_UNITS.
# Targets that install packages first build by calling make again.
PKG_CONFIG ?= pkg-config
BPFCLANG ?= clang
WITHOUT ?=
export PKG_CONFIG WITHOUT BPFCLANG
building := $(filter-out deps run check test coverage lint bench kernel-ab two-kernels reference-% reproduce-% studies studies-page campaign fuzz arm64 \
            sanitized-test elsewhere fresh dist package-test clean put-%,$(or $(MAKECMDGOALS),all))
ifneq ($(building),)
found   := $(shell CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' PKG_CONFIG='$(PKG_CONFIG)' BPFCLANG='$(BPFCLANG)' WITHOUT='$(WITHOUT)' \
             common/find-features make '$(BUILD)' || echo failed)
$(if $(found),$(error kblat cannot be built here: see above; `make deps` installs what is missing))
include $(BUILD)/features.mk
endif

ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -pthread -I. -Iharness -I$(BUILD) -I$(BUILD)/harness $(FEATURE_CFLAGS) $(CPPFLAGS) $(WARN) $(CFLAGS) -fno-omit-frame-pointer \
             $(SANFLAGS) $(COVFLAGS)
OWN_LDFLAGS := -Wl,-z,now -Wl,-z,relro $(if $(SAN),-no-pie) $(if $(COV),$(foreach f,_exit raise signal,-Wl$(comma)--wrap=$f -Wl$(comma)-u$(comma)__wrap_$f))
# Tests are two hundred programs with debugging information: if there is gold, it links them in two thirds of the time.
gold    := $(if $(FUZZ),,$(shell $(CC) -fuse-ld=gold -Wl,--version 2>/dev/null | grep -qw gold && echo -fuse-ld=gold))
LDFLAGS ?=
TESTLD   = $(OWN_LDFLAGS) $(LDFLAGS) $(gold)
LIBS    := $(KBLAT_LIBS) -lrt -lm

# Code that only computes: tracing each comparison of its numbers costs more than it finds.
$(BUILD)/harness/judge/analysis/%.o $(BUILD)/common/diag.o: SANFLAGS += $(if $(FUZZ),-fno-sanitize-coverage=trace-cmp)

# Loops, kernel-transport: EVERY_LOOP and EVERY_GAP_LOOP of the list, without those of transports whose library is missing.
GONE    := $(foreach a,$(ABSENT),-DWITHOUT_$(firstword $(subst :, ,$a)))
LOOPS   := $(shell echo 'EVERY_LOOP(ROW) EVERY_GAP_LOOP(ROW)' | \
             $(CC) -E -P -Iharness -include measure/kernels/kernel_list.h '-DROW(k,t)=k-t' $(GONE) -x c - 2>/dev/null)

# In place of what is left out: its _without.c.
present  = $(filter-out $(LEFT_OUT:=.c) %_without.c %.bpf.c,$1) $(filter $(LEFT_OUT:=_without.c),$1)
COMMON  := $(wildcard common/*.c)
HARNESS := $(call present,$(filter-out harness/main.c %_loop.c,\
           $(wildcard harness/*.c harness/*/*.c harness/*/*/*.c)))
OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(COMMON) $(HARNESS)) \
           $(LOOPS:%=$(BUILD)/harness/measure/kernels/%.o) \
           $(COVKEEP)
LIB     := $(BUILD)/libkblat.a
TUNING  := $(call present,$(wildcard tuning/*/*.c))
TUNELIB := $(BUILD)/libkbtune.a
TUNELIBS:= $(KBTUNE_LIBS)
UNIT    := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_*.c))
TUNEUNIT:= $(filter $(BUILD)/unit/test_tune_%,$(UNIT))
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
BENCH   := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))

.DEFAULT_GOAL := all
all: $(BUILD)/kblat $(BUILD)/kbtune

# -- for newcomers ---------------------------------------------------------------------------------------------

deps:
	@common/deps build run man guest test lint

run:
	@experiments/quickstart/run --plan
	@common/deps build run $$(grep -qs ACTIVE /sys/class/infiniband/*/ports/*/state || echo guest)
	@$(MAKE) --no-print-directory -j$(CPUS) all
	@experiments/quickstart/run $(BUILD)/kblat

# For use while working: native tests, once, without those tagged "long", in six minutes on two CPUs.
check:
	@common/deps build run test
	@$(MAKE) --no-print-directory -j$(CPUS) all units
	@tests/leftovers tests/run $(BUILD)

test:
	@common/deps build run test
	@[ '$(VM)' = no ] || common/deps guest
	@$(MAKE) --no-print-directory -j$(CPUS) tests sanitized
	@tests/leftovers tests/run --vm '$(VM)' $(BUILD) $(BUILD)/san

# The native tests with sanitizers, with which they take three times as long: also those that `make test` runs without.
sanitized-test:
	@common/deps build run test
	@$(MAKE) --no-print-directory -j$(CPUS) tests sanitized
	@tests/leftovers tests/run --sanitized $(BUILD) $(BUILD)/san

# Every command and link of every page, and what became of each: run, or what it needs.
docs-test: all
	@t=$$(mktemp -d) && trap 'rm -rf "$$t"' EXIT && cd "$$t" && \
	'$(CURDIR)'/tests/cli/docs_commands.py --table '$(CURDIR)' '$(abspath $(BUILD))'/kblat '$(abspath $(BUILD))'/kbtune && \
	'$(CURDIR)'/tests/cli/docs_links.py '$(CURDIR)'

# Which lines the native tests run, by folder, and those that they never do (docs/coverage.md). Takes about as long as `make test VM=no`.
SUITES :=
coverage:
	@common/deps build run test
	@$(MAKE) --no-print-directory -j$(CPUS) COV=1 BUILD=$(BUILD)/cov all units $(addprefix $(BUILD)/cov/,registers.so past_kernel.so adapter.so vm-verbs-test)
	@find $(BUILD)/cov -name '*.gcda' -delete
	@GCOV_ERROR_FILE=/dev/null tests/leftovers tests/run --suites '$(or $(SUITES),all)' $(BUILD)/cov || echo 'some tests failed: their counts are in the table all the same'
	@tests/coverage/table $(BUILD)/cov

lint:
	@common/deps build lint
	tests/lint

RESUME  :=
MINUTES := 50
bench:
	@common/deps build run bench
	@grep -qs ACTIVE /sys/class/infiniband/*/ports/*/state || common/deps guest
	@$(MAKE) --no-print-directory -j$(CPUS) all benches $(BUILD)/adapter.so
	@tests/leftovers tests/bench/run $(if $(RESUME),--resume) --minutes '$(MINUTES)' $(BUILD) $(ROUNDS)

# Is the kernel NEW slower than OLD? Both boot in the guest, BOOTS times each; SPEC is what is measured.
OLD   :=
NEW   :=
SPEC  := experiments/quickstart
BOOTS := 8
kernel-ab:
	@[ -n '$(OLD)' ] && [ -n '$(NEW)' ] || { echo 'make kernel-ab: name both kernels: make kernel-ab OLD=6.1.0-40-amd64 NEW=/boot/vmlinuz-6.12.9' >&2; exit 2; }
	@common/deps build run guest
	@$(MAKE) --no-print-directory -j$(CPUS) all
	@$(BUILD)/kblat boots start '$(SPEC)' --loader guest --old '$(OLD)' --new '$(NEW)' --boots '$(BOOTS)' --out $(BUILD)/kernel-ab

# kblat boots in a machine with a disk, GRUB, systemd and two kernels, whose power fails ten times. Takes 15 minutes.
two-kernels:
	@common/deps build run guest
	@$(MAKE) --no-print-directory -j$(CPUS) all man
	@KBLAT=$(BUILD)/kblat tests/vm/two-kernels --failures 10

# The quick variant of a study in the guest. `make reference-STUDY` keeps it as the study's reference bundle; `make reproduce-STUDY` checks that bundle,
# measures the same again, and puts both side by side (docs/reproduce.md).
STUDIES   := thesis ramcloud via infiniswap observatory
REFERENCE  = experiments/$*/reference.tar.gz
IN_GUEST   = tests/vm/guest --in-memory --timeout 3600 --out $1 --
$(addprefix reference-,$(STUDIES)): reference-%: studies
	@rm -rf $(BUILD)/$@
	@$(call IN_GUEST,$(BUILD)/$@) $(BUILD)/kblat run experiments/$* --quick --out $(BUILD)/$@ || [ $$? -eq 3 ]
	@rm -rf $(BUILD)/$@/*/derived $(BUILD)/$@/*/*/derived # pages, which can be made again
	@$(BUILD)/kblat bundle $(BUILD)/$@/$*-* --without-columns --without-states --replace --out $(REFERENCE)

# Status 3 says that a verdict differs, which the table shows.
$(addprefix reproduce-,$(STUDIES)): reproduce-%: studies
	@rm -rf $(BUILD)/$@
	@$(call IN_GUEST,$(BUILD)/$@) $(BUILD)/kblat reproduce $(REFERENCE) --run --out $(BUILD)/$@/$* || [ $$? -eq 3 ]

# docs/studies.md anew: these references, and two experiments that take another launcher (their READMEs). Takes half an hour.
studies-page: studies
	@for study in $(filter-out observatory,$(STUDIES)); do $(MAKE) --no-print-directory reference-$$study || exit; done
	@rm -rf $(BUILD)/$@
	@$(call IN_GUEST,$(BUILD)/$@) experiments/launch/netns $(BUILD)/kblat run experiments/thesis/node-peers-link --quick --out $(BUILD)/$@ || [ $$? -eq 3 ]
	@tests/vm/pair --timeout 1800 --out $(BUILD)/$@ -- $(BUILD)/kblat run experiments/via/bandwidth-latency --quick --out $(BUILD)/$@ \
		--sink 'ssh kblat-guest-2' --set source_address=192.0.2.1 --set sink_address=192.0.2.2 || [ $$? -eq 3 ]
	@$(BUILD)/kblat claims --json $(BUILD)/reference-thesis/*/node-peers-2* $(BUILD)/$@/node-peers-link-* >$(BUILD)/$@/thesis.json || [ $$? -ge 3 ]
	@$(BUILD)/kblat claims --json $(BUILD)/$@/via-bandwidth-latency-* >$(BUILD)/$@/via.json || [ $$? -ge 3 ]
	@docs/claims-page "$$(echo $(BUILD)/reference-thesis/thesis-*)+$(BUILD)/$@/thesis.json" $(BUILD)/reference-ramcloud/ramcloud-* \
		"$$(echo $(BUILD)/reference-via/via-*)+$(BUILD)/$@/via.json" $(BUILD)/reference-infiniswap/infiniswap-* >$(BUILD)/$@/studies.md
	@mv $(BUILD)/$@/studies.md docs/studies.md

studies:
	@common/deps build run guest
	@$(MAKE) --no-print-directory -j$(CPUS) all

# Injects all kinds of faults, thousands of times, for hours (docs/reliability.md). Continues a campaign that was interrupted.
HOURS := 12
ONLY  :=
campaign:
	@common/deps build run campaign
	@$(MAKE) --no-print-directory -j$(CPUS) all
	@tests/campaign/campaign --build $(BUILD) --hours '$(HOURS)' --only '$(ONLY)'

# Do the claims of the studies hold over two adapters that are as their sources say, and each not without its effect? Over a model
# (tests/model/README.md), in about 20 minutes; REHEARSED takes a part. What came of it is written into docs/claims.md.
REHEARSED := thesis ramcloud via infiniswap
rehearsal: tests
	@worst=0; for study in $(REHEARSED); do \
		tests/model/rehearse --runs $(BUILD)/rehearsal --page docs/claims.md $(BUILD) $$study || worst=$$?; \
	done; exit $$worst

# Looks for inputs that break something. They are kept in tests/fuzz, and `make test` repeats them.
SECONDS := 60
TARGETS :=
ROUNDS  :=
JOBS    := 1
fuzz:
	@common/deps build fuzz
	@$(MAKE) --no-print-directory -j$(CPUS) all
	@$(MAKE) --no-print-directory -j$(CPUS) CC='$(filter ccache,$(CC)) clang' SAN=1 FUZZ=1 BUILD=$(BUILD)/fuzz fuzzers
	@tests/fuzz/run --seconds '$(SECONDS)' --rounds '$(or $(ROUNDS),1)' --jobs '$(JOBS)' $(BUILD)/fuzz/fuzz $(TARGETS)

# Everything for arm64, by Debian's cross compiler; unit tests under qemu-user.
arm64:
	@common/deps build arm64
	@tests/arm64 $(BUILD)/arm64

# The shared-memory ring in all orders of its steps that C11 allows (with any order weakened it must fail), and under ThreadSanitizer.
memory-order: $(BUILD)/litmus $(BUILD)/tsan $(BUILD)/tsan-handover
	$(BUILD)/litmus 0
	@for weak in 1 2 3 4 5 6; do ! $(BUILD)/litmus $$weak >$(BUILD)/litmus.log || { echo "weakening $$weak is not seen"; exit 1; }; done
	setarch -R $(BUILD)/tsan
	setarch -R $(BUILD)/tsan-handover

$(BUILD)/litmus: tests/litmus/shmem_ring.cpp
	@common/deps memory-order
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=gnu++14 -O1 -w -o $@ $<

$(BUILD)/tsan: tests/unit/test_shmem_order.c $(LIB)
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=thread -o $@ $< $(LIB) $(LIBS)

# The kernel handoff with a million messages in each mode. ThreadSanitizer does not know fences (-Wno-tsan): tests/litmus tests those of the ring.
$(BUILD)/tsan-handover: tests/unit/test_handover.c $(LIB)
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=thread -Wno-tsan -DHANDOVERS=1000000 -o $@ $< $(LIB) $(LIBS)

# -- installing --------------------------------------------------------------------------------------------------------

# Man pages and completions are made from the programs' own tables (docs/man/generate).
MAN     := $(BUILD)/man
man: $(MAN)/made
$(MAN)/made: $(BUILD)/kblat $(BUILD)/kbtune $(wildcard docs/man/*)
	@common/deps man
	@echo '  MAN   $(MAN)'
	$(Q)rm -rf $(MAN)
	$(Q)docs/man/generate $(BUILD)/kblat $(BUILD)/kbtune $(MAN)
	$(Q)touch $@

install: install-kblat install-kbtune
install-kblat install-kbtune: install-%: all man
	@$(MAKE) --no-print-directory BUILD=$(BUILD) PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' put-$*

# Copies what is built. Programs find their data in share/ next to bin/ (common/datadir.h), so any prefix works.
to       = $(DESTDIR)$(PREFIX)
UNITS   := lib/systemd/system
BASHDIR := share/bash-completion/completions
ZSHDIR  := share/zsh/site-functions
put      = install -D -m $1 '$2' '$(to)/$3'
# put_pages PROGRAM
define put_pages
	for f in $(MAN)/$1.1 $(MAN)/$1-*.[15]; do install -D -m 644 $$f "$(to)/share/man/man$${f##*.}/$${f##*/}" || exit 1; done
	$(call put,644,$(MAN)/$1.bash,$(BASHDIR)/$1)
	$(call put,644,$(MAN)/$1.zsh,$(ZSHDIR)/_$1)
endef

put-kblat:
	$(call put,755,$(BUILD)/kblat,bin/kblat)
	$(call put,644,harness/measure/program/kblat_stamp.h,include/kblat_stamp.h)
	for f in plots/*.gp; do install -D -m 644 $$f '$(to)/share/kblat/'$$f || exit 1; done
	for f in $$(find experiments -name runs -prune -o -type f ! -path "experiments/quickstart/[ar]*" ! -name reference.tar.gz -print); do \
		install -D -m $$(test -x $$f && echo 755 || echo 644) $$f '$(to)/share/kblat/'$$f || exit 1; done
	for f in docs/*.md; do install -D -m 644 $$f '$(to)/share/doc/kblat/'$${f#docs/} || exit 1; done
	for f in guest/*; do install -D -m $$(test -x $$f && echo 755 || echo 644) $$f '$(to)/share/kblat/'$$f || exit 1; done
	ln -sf ../share/kblat/guest/kblat-guest '$(to)/bin/kblat-guest'
	$(call put,644,docs/systemd/README.md,share/doc/kblat/kernel-check.md)
	$(call put,755,docs/systemd/kernel-check,libexec/kblat/kernel-check)
	$(call put,644,docs/systemd/kblat-kernel-check.timer,$(UNITS)/kblat-kernel-check.timer)
	for u in kblat-kernel-check.service kblat-boots@.service; do \
		sed 's|@PREFIX@|$(PREFIX)|' docs/systemd/$$u.in >"$(to)/$(UNITS)/$$u" && chmod 644 "$(to)/$(UNITS)/$$u" || exit 1; done
	$(call put_pages,kblat)

put-kbtune:
	$(call put,755,$(BUILD)/kbtune,bin/kbtune)
	for f in $$(find profiles -type f); do install -D -m 644 $$f '$(to)/share/kbtune/'$$f || exit 1; done
	$(call put_pages,kbtune)

# A tarball of what is committed: the same bytes each time.
DIST := $(BUILD)/kblat-$(VERSION).tar
dist:
	@mkdir -p $(BUILD)
	@git diff --quiet HEAD || echo 'dist: changes that are not committed are left out' >&2
	$(Q)git -c tar.umask=0022 archive --format=tar --prefix=kblat-$(VERSION)/ -o $(DIST) HEAD
	$(Q)gzip -9nf $(DIST)
	@echo '$(DIST).gz'

# The commit on Debian 13: built with gcc and clang, all of its tests, and its packages; and on fresh machines of both releases, as the README says.
# Both take the better part of an hour, and need root. STEPS='guest cli:wakeup' takes some steps or suites only, RELEASES=trixie some fresh machines.
STEPS :=
RELEASES :=
elsewhere:
	@common/deps elsewhere package
	@tests/leftovers tests/elsewhere/run $(if $(STEPS),--steps "$(STEPS)") trixie $(BUILD)

fresh:
	@common/deps elsewhere
	@tests/leftovers tests/elsewhere/fresh $(BUILD) $(RELEASES)

# Debian packages of the commit: built, checked by lintian, installed, used and purged in clean roots. Takes minutes.
package-test:
	@common/deps package
	@tests/leftovers tests/package/run $(BUILD)

units: $(UNIT)
tests: all units $(if $(SAN),fuzzers,$(BUILD)/vm-host-view $(BUILD)/registers.so) $(BUILD)/past_kernel.so $(BUILD)/adapter.so $(BUILD)/vm-verbs-test
sanitized:
	@$(MAKE) --no-print-directory tests SAN=1 BUILD=$(BUILD)/san
fuzzers: $(FUZZERS) $(BUILD)/fuzz/machine/run
benches: $(BENCH)

# -- how it is built ---------------------------------------------------------------------------------------------------

# Without a process for each of hundreds of objects. $(call compiling,OBJECT)
compiling = $(info $(empty)  CC    $1)$(if $(wildcard $(dir $1).),,$(shell mkdir -p $(dir $1)))

$(BUILD)/kblat: $(BUILD)/harness/main.o $(LIB)
	@echo '  LINK  $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(OWN_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/kbtune: $(BUILD)/tuning/main.o $(TUNELIB)
	@echo '  LINK  $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(OWN_LDFLAGS) $(LDFLAGS) -o $@ $^ $(TUNELIBS)

$(TUNELIB): $(patsubst %.c,$(BUILD)/%.o,$(COMMON) $(TUNING)) $(COVKEEP)
	@rm -f $@
	@echo '  AR    $@'
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

$(TUNEUNIT): $(BUILD)/unit/%: tests/unit/%.c $(TUNELIB)
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(TESTLD) -MMD -MP -o $@ $< $(TUNELIB) $(TUNELIBS)

# When a library comes or goes, other objects are in them.
$(LIB) $(TUNELIB) $(BUILD)/common/feature.o: $(BUILD)/features.mk

$(LIB): $(OBJECTS)
	@rm -f $@
	@echo '  AR    $@'
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

$(BUILD)/%.o: %.c
	$(call compiling,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# A program for the kernel, as the bytes of an array. -g makes the types of its maps. The kernel's headers are of this machine's processor: they are
# where the compiler finds them.
asm_headers = $$(echo '\#include <asm/types.h>' | $(CC) $(CPPFLAGS) -E - | sed -n 's|^.* "\(.*\)/asm/types.h".*|\1|p' | head -n 1)
$(BUILD)/%.bpf.inc: %.bpf.c harness/measure/transports/bpf_code.h
	$(call compiling,$@)
	$(Q)$(BPFCLANG) -target bpf -O2 -g -ffreestanding $(WARN) -Wno-missing-prototypes -Iharness -idirafter "$(asm_headers)" \
		-c -o $(@:.inc=.o) $<
	$(Q)od -An -v -tx1 $(@:.inc=.o) | sed 's/ \(..\)/0x\1,/g' >$@
$(BUILD)/harness/measure/transports/xdp_program.o: $(BUILD)/harness/measure/transports/xdp_frames.bpf.inc
$(BUILD)/harness/measure/transports/stages_filter.o: $(BUILD)/harness/measure/transports/stages_filter.bpf.inc

# The script and the style of pages, and what runs in tuned's Python, as the bytes of an array.
EMBEDDED := harness/report/page.js harness/report/page.css tuning/machine/tuned_script.py
$(EMBEDDED:%=$(BUILD)/%.inc): $(BUILD)/%.inc: %
	$(call compiling,$@)
	$(Q)od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g' >$@
$(BUILD)/tuning/machine/tuned.o: $(BUILD)/tuning/machine/tuned_script.py.inc
$(BUILD)/harness/report/html.o: $(BUILD)/harness/report/page.js.inc $(BUILD)/harness/report/page.css.inc

# Only this object contains the commit, and is made again when that changes.
$(BUILD)/common/version.o: ALL_CFLAGS += -DKBLAT_VERSION='"$(VERSION)"' -DKBLAT_COMMIT='"$(COMMIT)"'
$(BUILD)/common/version.o: $(BUILD)/commit
$(BUILD)/commit: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION) $(COMMIT)' | cmp -s - $@ || echo '$(VERSION) $(COMMIT)' >$@

# kernels/<kernel>_loop.c, for a transport. With gcse and a frame pointer gcc runs out of registers between a stamp and
# its post. With sanitizers there is one instance of a loop, rather than one for each choice; so have those that log gaps, for explain,
# which decides every choice while it runs and takes a sixth of the time to compile.
LOOPFLAGS := $(if $(SAN)$(COV),-DLOOP_ONE_INSTANCE,-fno-gcse -fomit-frame-pointer -Wno-ignored-optimization-argument)
define loop_rule
$(BUILD)/harness/measure/kernels/$1-$2.o: harness/measure/kernels/$1_loop.c
	$$(call compiling,$$@)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $$(LOOPFLAGS) $(if $(filter %_gaps,$2),-DLOGS_GAPS -DLOOP_ONE_INSTANCE) -DTRANSPORT=$(2:_gaps=) \
		-DTRANSPORT_HOT='"measure/transports/$(2:_gaps=)_hot.h"' -MMD -MP -c -o $$@ $$<
endef
$(foreach l,$(LOOPS),$(eval $(call loop_rule,$(firstword $(subst -, ,$l)),$(lastword $(subst -, ,$l)))))

# A transport whose library is missing, TRANSPORT:LIBRARY, is compiled with the library's name.
TRANSPORT_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard harness/measure/transports/*.c))
$(TRANSPORT_OBJECTS) $(BUILD)/harness/measure/kernels/kernel.o: $(BUILD)/features.mk
$(BUILD)/harness/measure/kernels/kernel.o: ALL_CFLAGS += $(GONE)
$(foreach a,$(ABSENT),$(eval $(BUILD)/harness/measure/transports/$(firstword $(subst :, ,$a)).o: ALL_CFLAGS += -DABSENT='"$(lastword $(subst :, ,$a))"'))

# A test of what is left out is skipped: TEST, and LIBRARY:PACKAGE+… of the first that it misses.
define absent_unit_rule
$(BUILD)/unit/test_$1: $(BUILD)/features.mk
	@mkdir -p $$(@D)
	@printf '#!/bin/sh\necho 1..1; echo "ok 1 - $1 # SKIP this build is without $(subst :,: install ,$(subst +, ,$2))"\n' >$$@ && chmod 755 $$@
endef
$(foreach t,$(sort $(foreach a,$(ABSENT_UNITS),$(firstword $(subst :, ,$a)))),\
  $(eval $(call absent_unit_rule,$t,$(patsubst $t:%,%,$(firstword $(filter $t:%,$(ABSENT_UNITS)))))))

$(BUILD)/unit/%: tests/unit/%.c $(LIB)
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(TESTLD) -MMD -MP -o $@ $< $(LIB) $(LIBS)

$(BUILD)/bench/%: tests/bench/%.c $(LIB)
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(OWN_LDFLAGS) $(LDFLAGS) -MMD -MP -o $@ $< $(LIB) $(LIBS)

# All others load a message library only if they need it.
$(BUILD)/bench/bench_messaging: LIBS += -lzmq -lnanomsg

$(BUILD)/vm-verbs-test: tests/vm/verbs_test.c $(LIB)
	@echo '  LINK  $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(OWN_LDFLAGS) $(LDFLAGS) -MMD -MP -o $@ $< $(LIB) $(LIBS)

# A target of tests/fuzz: with libFuzzer, or with replay.c, which only repeats known inputs.
FUZZLIB  := $(BUILD)/libkbfuzz.a
FUZZMAIN := $(BUILD)/tests/fuzz/no_process.o $(if $(FUZZ),,$(BUILD)/tests/fuzz/replay.o)
FUZZLINK := $(if $(FUZZ),-fsanitize=fuzzer) $(foreach f,kill process_signal fork execv execvp,-Wl$(comma)--wrap=$f)
$(FUZZLIB): $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/fuzz/fuzz_% tests/fuzz/replay.c tests/fuzz/no_process.c,$(wildcard tests/fuzz/*.c)))
	@rm -f $@
	@echo '  AR    $@'
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

$(filter $(BUILD)/fuzz/tune_%,$(FUZZERS)): $(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/fuzz_%.o $(FUZZMAIN) $(FUZZLIB) $(TUNELIB)
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(FUZZLINK) $(TESTLD) -o $@ $^ $(TUNELIBS)

$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/fuzz_%.o $(FUZZMAIN) $(FUZZLIB) $(LIB)
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(FUZZLINK) $(TESTLD) -o $@ $^ $(LIBS)

.SECONDARY: $(patsubst tests/%.c,$(BUILD)/tests/%.o,$(wildcard tests/fuzz/*.c))
$(BUILD)/fuzz/machine/run: tests/sysroots/machine
	@rm -rf $(@D)
	$(Q)tests/sysroots/machine unpack cards $(@D)

# Shows what kbtune changes; not part of kblat or kbtune.
$(BUILD)/vm-host-view: tests/vm/host_view.c
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(CC) $(ALL_CFLAGS) $(OWN_LDFLAGS) $(LDFLAGS) -o $@ $<

# Preloaded by tests, always compiled without sanitizers.
$(BUILD)/registers.so $(BUILD)/past_kernel.so: $(BUILD)/%.so: tests/cli/%.c
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(CC) $(CPPFLAGS) -O2 -fPIC -shared -o $@ $<

# In place of libibverbs and librdmacm, for tests (tests/model/adapter.h); likewise.
$(BUILD)/adapter.so: $(wildcard tests/model/*.c) tests/model/adapter.h
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -pthread -I. -Iharness $(WARN) -Wno-missing-prototypes -O2 -g1 -fPIC -shared -Wl,-z,now -o $@ $(filter %.c,$^) -lm

clean:
	rm -rf $(BUILD)

.PHONY: docs-test sanitized-test elsewhere fresh all deps run check test coverage studies studies-page $(foreach s,$(STUDIES),reference-$s reproduce-$s) units tests sanitized lint fuzz fuzzers bench benches kernel-ab two-kernels campaign rehearsal arm64 memory-order man install install-kblat install-kbtune put-kblat put-kbtune dist package-test clean FORCE
-include $(shell find $(BUILD) \( -path $(BUILD)/vm -o -path $(BUILD)/elsewhere -o -path $(BUILD)/servers-source -o -path $(BUILD)/consumers \) -prune -o -name '*.d' -type f -print 2>/dev/null)
