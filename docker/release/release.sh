#!/usr/bin/env bash
# Builds a release of the checked out commit, part by part, in a folder.
# usage: bash docker/release/release.sh VERSION [PART...]
#
#   check      the working tree is clean, and all files have this version
#   test       all of .ci/run
#   package    the npm package, with its bill of materials and licences
#   chart      the Helm chart
#   images     both images for all PLATFORMS, as OCI archives
#   checksums  SHA256SUMS of the files of this version
#   publish    pushes images, chart and npm package from the folder
#
# Without a PART: all but publish. docker/release/README.md describes what each part needs.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=${1:?usage: bash docker/release/release.sh VERSION [PART...]}
shift
[ $# -gt 0 ] || set -- check test package chart images checksums
out=${RELEASE_FOLDER:-release}
platforms=${PLATFORMS:-linux/amd64,linux/arm64}
mkdir -p "$out"
out=$(cd "$out" && pwd)

# npm and Helm would give their archives the same name.
package=$out/vedette-npm-$version.tgz
chart=$out/vedette-chart-$version.tgz

part_check() {
  [ -z "$(git status --porcelain)" ] || { git status --short >&2; echo 'the tree is not clean' >&2; return 1; }
  node docker/release/version.mjs check "$version"
}

part_test() {
  bash .ci/run
}

# Packs a copy of the commit, so that the package contains neither modules of an older build nor
# packages that differ from the lockfile. PACKAGE_FOLDER, for tests, is packed without a copy.
part_package() {
  local tree=${PACKAGE_FOLDER:-}
  if [ -z "$tree" ]; then
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' EXIT
    tree=$copy
    git archive HEAD | tar -x -C "$tree"
    (cd "$tree" && npm ci)
  fi
  (cd "$tree" && npm pack --silent --pack-destination "$out")
  mv "$out/vedette-$version.tgz" "$package"
  tar -xzOf "$package" package/dist/sbom.cdx.json > "$out/vedette-npm-$version.cdx.json"
  tar -xzOf "$package" package/dist/third-party-licenses.txt > "$out/vedette-npm-$version.licenses.txt"
  node docker/release/version.mjs notes "$version" > "$out/NOTES.md"
}

part_chart() {
  helm package docker/helm/vedette --destination "$out"
  mv "$out/vedette-$version.tgz" "$chart"
}

part_images() {
  image vedette-agent docker/agent.Dockerfile
  image vedette docker/service.Dockerfile
}

# The builder attaches a bill of materials of the whole image and its provenance.
# usage: image NAME DOCKERFILE
image() {
  local settings=(--build-arg "VERSION=$version" --build-arg "REVISION=$(git rev-parse HEAD)")
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) \
    docker buildx build --file "$2" --platform "$platforms" "${settings[@]}" --sbom=true --provenance=mode=max \
    --output "type=oci,dest=$(archive "$1")" .
}

# usage: archive IMAGE
archive() {
  printf '%s/%s-%s.oci.tar' "$out" "$1" "$version"
}

# The folder may hold files of another version.
part_checksums() {
  (cd "$out" && sha256sum vedette*-"$version".* > SHA256SUMS)
}

# npm comes last, because a published version can never be replaced.
part_publish() {
  : "${REGISTRY:?REGISTRY is the registry of the images and the chart, such as registry.example.com/vedette}"
  (cd "$out" && sha256sum --check --strict --quiet SHA256SUMS)
  local name
  for name in vedette-agent vedette; do
    skopeo copy --all "oci-archive:$(archive "$name")" "docker://$REGISTRY/$name:$version"
  done
  helm push "$chart" "oci://$REGISTRY/charts"
  # A pre-release such as 1.0.0-rc.1 is installed only on request.
  case $version in
    *-*) npm publish "$package" --tag next ;;
    *) npm publish "$package" ;;
  esac
}

for part in "$@"; do
  declare -F "part_$part" > /dev/null || { echo "unknown part: $part" >&2; exit 2; }
done
for part in "$@"; do
  printf '== %s\n' "$part"
  "part_$part"
done
