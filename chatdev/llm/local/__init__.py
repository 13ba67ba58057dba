"""The local model: pinned weights, a llama.cpp server as a child process, and the model over it."""
