import sys

limit = int(sys.argv[1])  # crashes without a number
print([n for n in range(2, limit) if all(n % d for d in range(2, n))])  # misses the limit, prints a list
