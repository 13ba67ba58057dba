import sys

tasks: list[str] = []  # forgotten at the end

if sys.argv[1] == "add":
    tasks.append(" ".join(sys.argv[2:]))
    print("Added:", tasks[-1])
elif sys.argv[1] == "list":
    for number, task in enumerate(tasks, 1):
        print(number, task)
