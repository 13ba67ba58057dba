"""A requirement and two programs, of which one meets it; for tests of embedders."""

TODO = "A to-do list: tasks are added, shown, marked as done and deleted; they are kept in a file."
TODO_CODE = "def add_task(tasks, text):\n    tasks.append({'text': text, 'done': False})\n\ndef showTasks(): ...\n"
FOURIER = "def fft(x):\n    n = len(x)\n    even, odd = fft(x[::2]), fft(x[1::2])\n    return even + odd\n"
