# What prepare, accel and guest have in common. To be sourced.
# shellcheck shell=bash

shopt -s inherit_errexit # a failure within $(...) ends that too

PATH=$PATH:/usr/sbin:/sbin # where depmod and modprobe are, and Debian's ordinary users do not look

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# fail STATUS MESSAGE: exit statuses are the project's: 1 it failed, 2 wrong usage, 77 not possible here.
fail() {
    local status=$1
    shift
    say "$*"
    exit "$status"
}

# usage_error MESSAGE
usage_error() { fail 2 "$* (--help lists the options)"; }

# need PROGRAM PACKAGE
need() {
    command -v "$1" >/dev/null || fail 77 "cannot find $1: install the Debian package $2"
}

need_x86_64() {
    local machine
    machine=$(uname -m)
    [[ $machine == x86_64 ]] || fail 77 "cannot run the guest on $machine: its kernel is an x86-64 one"
}

need_qemu() {
    need_x86_64
    need qemu-system-x86_64 qemu-system-x86
}

# The folder in which kernels are kept; it is made if missing. In a checkout it is in its build folder.
vm_dir() {
    local dir root
    root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
    dir=${XDG_CACHE_HOME:-${HOME:-}/.cache}/kblat/guest
    ((EUID != 0)) || dir=/var/cache/kblat/guest
    [[ ! -e $root/Makefile ]] || dir=$root/build/vm
    dir=${KBLAT_VM_DIR:-$dir}
    mkdir -p -- "$dir" || fail 1 "cannot make the folder for kernels, $dir: set KBLAT_VM_DIR to one that can be written"
    realpath -- "$dir"
}

# installed_kernel ROOT: the newest kernel installed there that has rdma_rxe, as VMLINUZ:MODULES. Some distributions keep it beside its modules.
installed_kernel() {
    local folder image
    while read -r folder; do
        compgen -G "$folder/kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko*" >/dev/null || continue
        for image in "$1/boot/vmlinuz-${folder##*/}" "$folder/vmlinuz"; do
            [[ ! -r $image ]] || { printf '%s:%s\n' "$image" "$folder" && return; }
        done
    done < <(find "$1/lib/modules/" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | sort -rV)
    return 1
}

# temporary_dir TEMPLATE: a private folder (mode 0700) whose path it prints.
temporary_dir() {
    mktemp -d -- "$1" || fail 1 "cannot make a temporary folder ${1%.*}: its folder must exist and be writable"
}
