#!/bin/sh
# Installs what the tests run and this machine lacks: Chromium for the tests of the page, strace for those that watch
# which connections a command makes, espeak-ng for speech to listen to. It says so before it installs anything.
set -eu

has_browser() {
  [ -z "${TWOFOLD_BROWSER:-}" ] || return 0
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    ! command -v "$name" >/dev/null || return 0
  done
  return 1
}

packages=
has_browser || packages="$packages chromium fonts-dejavu-core"
command -v strace >/dev/null || packages="$packages strace"
command -v espeak-ng >/dev/null || packages="$packages espeak-ng"
packages=${packages# }
[ -n "$packages" ] || exit 0

tell() {
  echo "Not installed for the tests: $packages, since $1." >&2
  echo "Tests that need them are skipped. Install them, or say in TWOFOLD_BROWSER where a Chromium is." >&2
  exit 0
}

command -v apt-get >/dev/null || tell "this machine has no apt-get"
as_root=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || tell "installing takes root, or sudo"
  sudo -n true 2>/dev/null || [ -t 0 ] || tell "sudo wants a password, and there is nobody to give it"
  as_root=sudo
fi
echo "Installing system packages for the tests with apt-get: $packages." >&2
$as_root apt-get update -qq || tell "apt-get update failed"
# shellcheck disable=SC2086 # one word for each package
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages \
  >/dev/null || tell "apt-get could not install them"
