#!/bin/sh
# Writes an OCI image archive (image-spec 1.1) without a container engine: tools/dist/oci.sh TREE VERSION FILE.
# One layer: the tree, and the CA certificates of this machine if it has any. The archive is a directory of blobs named by
# their digests. Readers: `podman load -i FILE`, `skopeo copy oci-archive:FILE …`, `docker load -i FILE` (25 or newer).
set -eu
. tools/lib.sh
case $TARGET in
x86_64-*) architecture=amd64 ;;
aarch64-*) architecture=arm64 ;;
*) die "no OCI architecture is known for $TARGET; add it to tools/dist/oci.sh" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root blobs=$work/image/blobs/sha256
mkdir -p "$blobs" "$root/etc/ssl/certs" "$root/tmp" "$root/work"
cp -R "$1/." "$root"
if [ -f /etc/ssl/certs/ca-certificates.crt ]; then cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"; fi
chmod 1777 "$root/tmp" "$root/work"

sha() { sha256sum "$1" | cut -d ' ' -f 1; }

# blob FILE MEDIA-TYPE: moves the file to its place, and prints its descriptor.
blob() {
    digest=$(sha "$1")
    size=$(wc -c <"$1")
    mv "$1" "$blobs/$digest"
    printf '{"mediaType":"%s","digest":"sha256:%s","size":%d' "$2" "$digest" "$size"
}

created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
sh tools/dist/tar.sh "$root" >"$work/layer"
unpacked=$(sha "$work/layer")
gzip -9n "$work/layer"
layer=$(blob "$work/layer.gz" application/vnd.oci.image.layer.v1.tar+gzip)
cat >"$work/config" <<JSON
{"created":"$created","architecture":"$architecture","os":"linux",
"config":{"Entrypoint":["/usr/bin/brunt"],"WorkingDir":"/work","Env":["PATH=/usr/bin","HOME=/tmp"],
"Labels":{"org.opencontainers.image.title":"brunt","org.opencontainers.image.version":"$2",
"org.opencontainers.image.licenses":"MIT OR Apache-2.0"}},
"rootfs":{"type":"layers","diff_ids":["sha256:$unpacked"]},
"history":[{"created":"$created","created_by":"make dist"}]}
JSON
config=$(blob "$work/config" application/vnd.oci.image.config.v1+json)
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s},"layers":[%s}]}' \
    "$config" "$layer" >"$work/manifest"
manifest=$(blob "$work/manifest" application/vnd.oci.image.manifest.v1+json)
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[%s,%s,%s}]}' "$manifest" \
    "\"platform\":{\"architecture\":\"$architecture\",\"os\":\"linux\"}" \
    "\"annotations\":{\"org.opencontainers.image.ref.name\":\"$2\",\"io.containerd.image.name\":\"docker.io/library/brunt:$2\"}" \
    >"$work/image/index.json"
echo '{"imageLayoutVersion":"1.0.0"}' >"$work/image/oci-layout"
(cd "$work/image" && tar --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    -cf - blobs index.json oci-layout) >"$3"
