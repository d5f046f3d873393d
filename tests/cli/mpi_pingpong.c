/*
 * An MPI program as users have them, for docs/mpi.md: round trips of N bytes (64) between two ranks, as half round trips.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS	20000
#define WARM_UP 1000

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void one_way(void *message, int size, int rank, int sender)
{
	if (rank == sender)
		MPI_Send(message, size, MPI_BYTE, !rank, 0, MPI_COMM_WORLD);
	else
		MPI_Recv(message, size, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	static double half[ROUNDS];
	int size = argc > 1 ? atoi(argv[1]) : 64, rank;
	char *message = calloc(1, (size_t)size);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = -WARM_UP; i < ROUNDS; i++) {
		const double begin = MPI_Wtime();

		one_way(message, size, rank, 0);
		one_way(message, size, rank, 1);
		if (i >= 0)
			half[i] = (MPI_Wtime() - begin) / 2;
	}
	if (rank == 0) {
		qsort(half, ROUNDS, sizeof(*half), by_value);
		printf("%d bytes, half round trips: p50 %.3f us, p99 %.3f us\n", size, half[ROUNDS / 2] * 1e6,
		       half[ROUNDS / 100 * 99] * 1e6);
	}
	MPI_Finalize();
	free(message);
	return 0;
}
