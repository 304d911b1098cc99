#!/bin/sh
# Installs Chromium, in which the tests of the page run, unless this machine has a browser that they can use.
set -eu

[ -z "${TWOFOLD_BROWSER:-}" ] || exit 0
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  ! command -v "$name" >/dev/null || exit 0
done

tell() {
  echo "No browser for the tests of the page: $1." >&2
  echo "Install Chromium, or say where one is in TWOFOLD_BROWSER; until then those tests are skipped." >&2
  exit 0
}

command -v apt-get >/dev/null || tell "this machine has no apt-get"
as_root=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || tell "installing it takes root, or sudo"
  sudo -n true 2>/dev/null || [ -t 0 ] || tell "sudo wants a password, and there is nobody to give it"
  as_root=sudo
fi
$as_root apt-get update -qq || tell "apt-get update failed"
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core \
  >/dev/null || tell "apt-get could not install it"
