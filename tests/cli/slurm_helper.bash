# A Slurm cluster of two nodes on this machine, from Debian's packages. These are not installed, but
# unpacked in build/slurm (after downloading them once with apt-get, which must be possible), and
# run from there with their own sockets, ports and files.

# slurm_unpack: sets $SLURM_ROOT; false if the packages are not available.
slurm_unpack() {
	SLURM_ROOT=$ROOT/build/slurm
	[ -x "$SLURM_ROOT/usr/bin/srun" ] && return
	local debs package
	debs=$(mktemp -d) && mkdir "$debs/partial" && rm -rf "$SLURM_ROOT.new" && mkdir -p "$SLURM_ROOT.new" || return 1
	apt-get -qq -y -o Dir::Cache::archives="$debs" -o Debug::NoLocking=1 -o APT::Sandbox::User=root --no-install-recommends --download-only \
		install slurmctld slurmd slurm-client munge >/dev/null 2>&1 || return 1
	for package in "$debs"/*.deb; do
		dpkg -x "$package" "$SLURM_ROOT.new" || return 1
	done
	rm -rf "$debs"
	rm -rf "$SLURM_ROOT.new/etc" "$SLURM_ROOT.new/usr/share" # without files that make would include (*.d)
	mv "$SLURM_ROOT.new" "$SLURM_ROOT"
}

# slurm_environment DIR: sets what its commands need.
slurm_environment() {
	SLURM_ROOT=$ROOT/build/slurm
	local libraries=$SLURM_ROOT/usr/lib/x86_64-linux-gnu
	export LD_LIBRARY_PATH=$libraries:$libraries/slurm-wlm SLURM_CONF=$1/slurm.conf PATH=$SLURM_ROOT/usr/bin:$PATH
}

# slurm_configure DIR: nodes n1 and n2, and its own munge.
slurm_configure() {
	local host port
	host=$(hostname -s)
	port=$((20000 + RANDOM % 10000))
	cat >"$1/slurm.conf" <<-END
		ClusterName=test
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=$port
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$1/munge.sock
		CredType=cred/munge
		PluginDir=$SLURM_ROOT/usr/lib/x86_64-linux-gnu/slurm-wlm
		StateSaveLocation=$1/state
		SlurmdSpoolDir=$1/spool-%n
		SlurmctldPidFile=$1/slurmctld.pid
		SlurmdPidFile=$1/slurmd-%n.pid
		ProctrackType=proctrack/pgid
		TaskPlugin=task/none
		SwitchType=switch/none
		MpiDefault=none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		SlurmdParameters=config_overrides
		ReturnToService=2
		KillWait=2
		NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2
		NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2
		PartitionName=all Nodes=n1,n2 Default=YES State=UP
	END
	head -c 1024 /dev/urandom >"$1/munge.key"
	chmod 400 "$1/munge.key"
	mkdir -p "$1/state"
}

# slurm_start DIR: false if it does not start. DIR/pids has the numbers of its processes.
slurm_start() {
	local node end=$((SECONDS + 60))
	slurm_configure "$1"
	slurm_environment "$1"
	"$SLURM_ROOT/usr/sbin/munged" -F -f --key-file="$1/munge.key" --socket="$1/munge.sock" --pid-file="$1/munged.pid" \
		--log-file="$1/munged.log" --seed-file="$1/munge.seed" >"$1/munged.out" 2>&1 3>&- &
	echo $! >"$1/pids"
	for _ in {1..100}; do [ ! -S "$1/munge.sock" ] || break; sleep 0.1; done
	# By these names: since 24.11 they ask what they are called.
	(exec -a slurmctld "$SLURM_ROOT/usr/sbin/slurmctld-wlm" -D -c) >"$1/slurmctld.out" 2>&1 3>&- &
	echo $! >>"$1/pids"
	for node in n1 n2; do
		(exec -a slurmd "$SLURM_ROOT/usr/sbin/slurmd-wlm" -D -N $node -d "$SLURM_ROOT/usr/sbin/slurmstepd-wlm") >"$1/$node.out" 2>&1 3>&- &
		echo $! >>"$1/pids"
	done
	while [ $SECONDS -lt $end ]; do
		[ "$(timeout 10 sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && return
		sleep 0.1
	done
	return 1
}

# slurm_stop DIR: ends all of it, and what its jobs have started.
slurm_stop() {
	local pid
	scancel --quiet --user="$(id -un)" 2>/dev/null || true
	for pid in $(tac "$1/pids" 2>/dev/null); do
		kill "$pid" 2>/dev/null || true
		for _ in {1..100}; do [ -d "/proc/$pid" ] || break; sleep 0.1; done
		kill -KILL "$pid" 2>/dev/null || true
	done
}
