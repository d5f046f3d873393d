// Answers lines of numbers; each seventh by an exception that passes through several frames with destructors.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct refused : std::runtime_error {
	using std::runtime_error::runtime_error;
};

__attribute__((noinline)) static long deep(long n, long depth)
{
	auto kept = std::make_unique<std::vector<long>>(static_cast<size_t>(depth + 1), n);
	if (depth == 0) {
		if (n % 7 == 3)
			throw refused("refused " + std::to_string(n));
		return n;
	}
	return deep(n, depth - 1) + kept->back() - n + depth;
}

__attribute__((noinline)) static std::string answer(long n)
{
	std::map<std::string, long> table;
	for (long i = 0; i < n % 20; i++)
		table["key" + std::to_string(i)] = i;
	try {
		return std::to_string(deep(n, n % 40)) + " " + std::to_string(table.size());
	} catch (const refused &e) {
		return e.what();
	}
}

int main()
{
	std::string line;
	while (std::getline(std::cin, line))
		std::cout << answer(std::stol(line)) << std::endl;
}
