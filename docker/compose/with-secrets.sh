#!/bin/sh
# Runs a command with each file of a folder as an environment variable of the file's name.
# Not all programs of compose.yaml read their secrets from files, and an environment written
# into compose.yaml would show them to whoever may look at the container.
set -eu
folder=${1:?usage: with-secrets.sh FOLDER COMMAND [ARGUMENT …]}
shift
for file in "$folder"/*; do
  [ -f "$file" ] || { echo "with-secrets.sh: no secrets in $folder" >&2; exit 2; }
  # The shell's own words only: an image may have no more than a shell.
  IFS= read -r value < "$file" || [ -n "$value" ] || { echo "with-secrets.sh: $file is empty" >&2; exit 2; }
  export "${file##*/}=$value"
done
unset value file
exec "$@"
