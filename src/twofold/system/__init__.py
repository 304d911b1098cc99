"""What Linux, macOS and Windows do differently: opening and locking files, pipes, limits of a process, keys, memory.

Each idea is one module that decides once, when it is imported, and by what the system has: `docs/windows.md` says what
Windows lacks.
"""
