"""Takes from Python on Linux what it lacks on Windows, in a process that calls `take_away` as it starts.

The standard library takes what it needs of the system before that. `msvcrt` and `_winapi` get stand-ins of the few
functions that this program calls; `sys.platform` stays, since other libraries choose by it what they load.
"""

import array
import asyncio
import concurrent.futures.process
import ctypes
import ctypes.util
import fcntl
import importlib
import logging.handlers
import mailbox
import multiprocessing.connection
import os
import platform
import select
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import termios
import types
import uuid

MODULES = (
    "crypt",
    "curses",
    "fcntl",
    "grp",
    "nis",
    "pty",
    "pwd",
    "readline",
    "resource",
    "spwd",
    "syslog",
    "termios",
    "tty",
)
ATTRIBUTES = {
    os: "O_CLOEXEC O_DIRECTORY O_DSYNC O_NOATIME O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_SYNC chown chroot ctermid"
    " fchdir fchmod fchown fork forkpty get_blocking getegid geteuid getgid getgroups getloadavg getpgid getpgrp"
    " getpriority getresgid getresuid getsid getuid killpg lchown lockf mkfifo mknod nice openpty pathconf pipe2"
    " posix_fadvise posix_fallocate posix_spawn posix_spawnp pread preadv pwrite pwritev readv sched_getaffinity"
    " sched_setaffinity sched_yield sendfile set_blocking setegid seteuid setgid setgroups setpgid setpriority setsid"
    " setuid sync sysconf tcgetpgrp tcsetpgrp ttyname wait wait3 wait4 writev",
    select: "epoll poll POLLERR POLLHUP POLLIN POLLNVAL POLLOUT POLLPRI",
    signal: "SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 SIGWINCH SIGXCPU"
    " SIGXFSZ alarm getitimer pause pthread_kill pthread_sigmask setitimer sigpending sigtimedwait sigwait",
}
READ, WRITE, BOTH = 0x8000_0000, 0x4000_0000, 0xC000_0000
DISPOSITIONS = {1: os.O_CREAT | os.O_EXCL, 2: os.O_CREAT | os.O_TRUNC, 3: 0, 4: os.O_CREAT, 5: os.O_TRUNC}
PRELOADED = (asyncio, concurrent.futures.process, ctypes.util, logging.handlers, mailbox, multiprocessing.connection)
PRELOADED_TOO = (platform, socketserver, tempfile, uuid)


def create_file(path: str, access: int, _shared: int, _security: int, how: int, _flags: int, _template: int) -> int:
    return os.open(path, {READ: os.O_RDONLY, WRITE: os.O_WRONLY, BOTH: os.O_RDWR}[access] | DISPOSITIONS[how], 0o600)


def open_osfhandle(handle: int, flags: int) -> int:
    fcntl.fcntl(handle, fcntl.F_SETFL, fcntl.fcntl(handle, fcntl.F_GETFL) | flags)
    return handle


def peek_named_pipe(handle: int, _size: int) -> tuple[int, int]:
    held = array.array("i", [0])
    fcntl.ioctl(handle, termios.FIONREAD, held)
    waiting = poll()
    waiting.register(handle, 0)
    if not held[0] and waiting.poll(0):
        raise BrokenPipeError
    return held[0], 0


def locking(handle: int, mode: int, _size: int) -> None:
    try:
        fcntl.flock(handle, {2: fcntl.LOCK_EX | fcntl.LOCK_NB, 0: fcntl.LOCK_UN}[mode])
    except BlockingIOError as error:
        raise PermissionError(*error.args) from None


def module(name: str, **members: object) -> None:
    made = types.ModuleType(name)
    vars(made).update(members)
    sys.modules[name] = made


poll = select.poll


def take_away() -> None:
    """Do it, for good. What `PRELOADED` in the environment names is another's, and is imported before."""
    for name in os.environ.get("PRELOADED", "").split():
        importlib.import_module(name)
    shutil._use_fd_functions = False  # type: ignore[attr-defined]
    subprocess.Popen.kill = lambda self: self.send_signal(9)  # type: ignore[method-assign]
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for holder, names in ATTRIBUTES.items():
        for name in names.split():
            if hasattr(holder, name):
                delattr(holder, name)
    module("_winapi", CreateFile=create_file, PeekNamedPipe=peek_named_pipe)
    module("msvcrt", open_osfhandle=open_osfhandle, get_osfhandle=int, locking=locking, LK_NBLCK=2, LK_UNLCK=0)
