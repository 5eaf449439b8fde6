#!/bin/sh
# Makes the system of `tools/snapshot-vm build` out of a bare Debian. Runs in it, as root.
set -eu
[ -f /snapshot-vm/key.pub ] || { echo "this is for the inside of an image that is being built"; exit 1; }
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
printf "#!/bin/sh\nexit 101\n" >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
apt-get update
# The headers come first: then ZFS is built once, for the kernel of the image.
apt-get install -y --no-install-recommends linux-image-cloud-amd64 linux-headers-cloud-amd64
apt-get install -y --no-install-recommends dkms zfs-dkms zfsutils-linux
kernel=$(basename /lib/modules/*-cloud-amd64)
[ -n "$(find "/lib/modules/$kernel" -name "zfs.ko*")" ] || dkms autoinstall -k "$kernel"
[ -n "$(find "/lib/modules/$kernel" -name "zfs.ko*")" ]
depmod "$kernel"
useradd --create-home --shell /bin/bash lab
for home in /root /home/lab; do install -D -m 600 /snapshot-vm/key.pub $home/.ssh/authorized_keys; done
chown -R lab:lab /home/lab
echo snapshots >/etc/hostname
# Without its own name, and with servers for names that are out of reach, each sudo waits for 20 seconds.
printf "127.0.0.1 localhost\n127.0.1.1 snapshots\n" >/etc/hosts
: >/etc/resolv.conf
echo "/dev/vda / ext4 defaults 0 1" >/etc/fstab
printf "[Match]\nName=en*\n[Network]\nAddress=10.0.2.15/24\nGateway=10.0.2.2\n" >/etc/systemd/network/vm.network
systemctl enable systemd-networkd ssh
systemctl disable zfs-import-cache zfs-import-scan zfs-mount zfs-share zfs-zed || true
echo "UseDNS no" >>/etc/ssh/sshd_config
update-initramfs -u -k "$kernel"
cp "/boot/vmlinuz-$kernel" /snapshot-vm/vmlinuz && cp "/boot/initrd.img-$kernel" /snapshot-vm/initrd
rm -rf /usr/sbin/policy-rc.d
