from dataclasses import replace

from benchbrief.extensions.tools.openload.spec import SPEC as ON_SERVERS
from benchbrief.extensions.tools.openload_rocksdb.rocksdb_options import FLAGS

SPEC = replace(
    ON_SERVERS,
    name="openload_rocksdb",
    stands_for=ON_SERVERS.name,
    implementation="benchbrief.extensions.tools.openload_rocksdb.openload_rocksdb:OpenloadRocksdb",
    install="tools/setup.sh openload",
    flags=FLAGS,
    loads_in_parts=False,  # one process opens a database
    where_settings_go=(
        "what it is to do as attributes of the `workload`, RocksDB's options as `options` of the `database`, and how "
        "the load is spaced as `arrivals` of the `experiment`"
    ),
)
