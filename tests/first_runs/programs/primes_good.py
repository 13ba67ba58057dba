import sys


def primes(limit: int) -> list[int]:
    return [n for n in range(2, limit + 1) if all(n % d for d in range(2, int(n**0.5) + 1))]


if len(sys.argv) == 2 and sys.argv[1].isdigit():
    print("Primes:", *primes(int(sys.argv[1])))
else:
    print("Usage: python main.py NUMBER")
