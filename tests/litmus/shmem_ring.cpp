/*
 * The memory order of the shared-memory ring (harness/measure/transports/shmem_hot.h), in every order of its steps that C11
 * allows, by Relacy: the payload that is read is the one that was sent, also in a slot that is used again; and nobody
 * sleeps who was not woken. Then the same with one order weakened, each of which must fail: else this proves nothing.
 *
 *     g++ -O1 -o shmem_ring tests/litmus/shmem_ring.cpp && ./shmem_ring        (Debian: relacy-dev)
 */
#include <relacy/relacy.hpp>

#include <cstdlib>

enum weakened { NOTHING, PUBLISH, SEE, GIVE_BACK, REUSE, FENCE_OF_WAKER, FENCE_OF_SLEEPER, WEAKENINGS };

static weakened weak;

/* An order as the code has it, or relaxed where that is what is weakened. */
#define ORDER(what, order) (weak == (what) ? rl::mo_relaxed : (order)), $

/* One slot, two messages. */
struct handover : rl::test_suite<handover, 2> {
	rl::atomic<unsigned> word, consumed;
	rl::var<unsigned> payload;

	void before()
	{
		word($) = 0;
		consumed($) = 0;
	}

	void write()
	{
		for (unsigned turn = 1; turn <= 2; turn++) {
			while (consumed.load(ORDER(REUSE, rl::mo_acquire)) != turn - 1)
				rl::yield(1, $);
			payload($) = turn;
			word.store(turn, ORDER(PUBLISH, rl::mo_release));
		}
	}

	void read()
	{
		for (unsigned turn = 1; turn <= 2; turn++) {
			while (word.load(ORDER(SEE, rl::mo_acquire)) != turn)
				rl::yield(1, $);
			RL_ASSERT(payload($) == turn);
			consumed.store(turn, ORDER(GIVE_BACK, rl::mo_release));
		}
	}

	void thread(unsigned number)
	{
		number ? read() : write();
	}
};

/* The writer publishes and looks whether the reader sleeps; the reader says that it will, and looks once more. */
struct sleep_and_wake : rl::test_suite<sleep_and_wake, 2> {
	rl::atomic<unsigned> word, sleeps;
	bool woken, slept;

	void before()
	{
		word($) = 0;
		sleeps($) = 0;
	}

	void thread(unsigned number)
	{
		rl::atomic<unsigned> &mine = number ? sleeps : word, &other = number ? word : sleeps;

		mine.store(1, number ? rl::mo_relaxed : rl::mo_release, $);
		if (weak != (number ? FENCE_OF_SLEEPER : FENCE_OF_WAKER))
			rl::atomic_thread_fence(rl::mo_seq_cst, $);
		(number ? slept : woken) = other.load(number ? rl::mo_acquire : rl::mo_relaxed, $) == (number ? 0 : 1);
	}

	void after()
	{
		RL_ASSERT(!slept || woken);
	}
};

template <typename test> static bool holds()
{
	rl::test_params p;

	p.search_type = rl::fair_full_search_scheduler_type;
	return rl::simulate<test>(p);
}

/* Which order is weakened, by its number. Status 0: it holds. */
int main(int argc, char **argv)
{
	weak = static_cast<weakened>(argc > 1 ? std::atoi(argv[1]) : 0);
	return holds<handover>() && holds<sleep_and_wake>() ? 0 : 1;
}
