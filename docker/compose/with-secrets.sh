#!/bin/sh
# Runs a command with each file of a folder as an environment variable of the file's name.
# Some programs of compose.yaml cannot read secrets from files, and an environment in compose.yaml
# would show them to everyone who may inspect the container.
set -eu
folder=${1:?usage: with-secrets.sh FOLDER COMMAND [ARGUMENT …]}
shift
for file in "$folder"/*; do
  [ -f "$file" ] || { echo "with-secrets.sh: no secrets in $folder" >&2; exit 2; }
  # Only shell built-ins: an image may have nothing but a shell.
  IFS= read -r value < "$file" || [ -n "$value" ] || { echo "with-secrets.sh: $file is empty" >&2; exit 2; }
  export "${file##*/}=$value"
done
unset value file
exec "$@"
