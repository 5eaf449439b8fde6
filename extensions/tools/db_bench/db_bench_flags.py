"""db_bench's flags: their names, their types, and which of them a database option must not set."""

from __future__ import annotations

import re
from dataclasses import replace

from benchbrief.extend.spec import FlagType

RESERVED = {
    "benchmarks": "`workloads` in the experiment",
    "db": "`path` in the database",
    "num": "`records` in the workload",
    "key_size": "`key_size` in the workload",
    "value_size": "`value_size` in the workload",
    "threads": "`threads` in the experiment",
    "duration": "`measure` in the experiment",
    "options_file": "`options_file` in the database itself",
    **dict.fromkeys(("use_existing_db", "wal_dir", "seed", "histogram", "report_file", "report_interval_seconds"), ""),
    **dict.fromkeys(("stats_interval", "stats_interval_seconds"), ""),
}
"""Flags that the driver sets itself or that would move the data. For each, names the place in a spec to set it instead,
if there is one."""

FLAG = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
"""Matches a db_bench flag."""

_BY_TYPE = {
    "bool": """
        adaptive_readahead advise_random_on_open allow_concurrent_memtable_write allow_data_in_errors async_io
        auto_prefix_mode auto_readahead_size auto_refresh_iterator_with_snapshot avoid_flush_during_recovery
        avoid_flush_during_shutdown blob_db_enable_gc blob_db_is_fifo block_align build_info
        cache_index_and_filter_blocks charge_blob_cache charge_compression_dictionary_building_buffer
        charge_file_metadata charge_filter_construction charge_table_reader check_flush_compaction_key_order
        compression_use_zstd_dict_trainer confidence_interval_only cost_write_buffer_to_cache
        decouple_partitioned_filters disable_auto_compactions disable_wal dump_malloc_stats enable_blob_files
        enable_blob_garbage_collection enable_cpu_prio enable_index_compression enable_io_prio enable_numa
        enable_pipelined_write enable_write_thread_adaptive_yield expand_range_tombstones explicit_snapshot
        fifo_compaction_allow_compaction file_checksum finish_after_writes force_consistency_checks histogram
        identity_as_first_hash index_with_first_key inplace_update_support io_uring_enabled
        level_compaction_dynamic_level_bytes manual_wal_flush memtable_use_huge_page
        memtable_whole_key_filtering mmap_read mmap_write multiread_batched open_as_follower
        optimistic_transaction_db optimize_filters_for_hits optimize_filters_for_memory
        optimize_multiget_for_io paranoid_checks paranoid_memory_checks partition_index
        partition_index_and_filters persist_stats_to_disk pin_l0_filter_and_index_blocks_in_cache
        pin_top_level_index_and_filter prefix_same_as_start print_malloc_stats progress_reports
        rate_limit_auto_wal_flush rate_limit_bg_reads rate_limit_user_ops rate_limiter_auto_tuned
        read_cache_direct_read read_cache_direct_write read_with_latest_user_timestamp readonly
        report_bg_io_stats report_file_operations report_open_timing reverse_iterator seek_missing_prefix
        show_table_properties simulate_hdd sine_mix_rate sine_write_rate statistics
        strict_max_successive_merges sync total_order_seek track_and_verify_wals
        track_and_verify_wals_in_manifest transaction_db transaction_set_snapshot universal_allow_trivial_move
        universal_incremental universal_reduce_file_locking unordered_write use_adaptive_mutex use_blob_cache
        use_blob_db use_block_based_filter use_cache_jemalloc_no_dump_allocator
        use_cache_memkind_kmem_allocator use_clock_cache use_compressed_secondary_cache use_cuckoo_table
        use_data_block_hash_index use_direct_io_for_flush_and_compaction use_direct_reads use_existing_db
        use_existing_keys use_fsync use_hash_search use_keep_filter use_plain_table use_ribbon_filter
        use_secondary_db use_shared_block_and_blob_cache use_single_deletes use_stderr_info_logger
        use_tailing_iterator use_tiered_cache use_uint64_comparator verify_checksum verify_compression
        whole_key_filtering
    """,
    "int32": """
        base_background_compactions blob_cache_numshardbits blob_file_starting_level
        block_cache_trace_sampling_frequency block_restart_interval block_size bloom_bits bloom_locality
        cache_numshardbits checksum_type compaction_pri compaction_style
        compressed_secondary_cache_compression_level compressed_secondary_cache_numshardbits compression_level
        compression_max_dict_bytes compression_parallel_threads compression_zstd_max_train_bytes deletepercent
        disable_seek_compaction disposable_entries_value_size duration file_opening_threads format_version
        index_block_restart_interval key_id_range key_size level0_file_num_compaction_trigger
        level0_slowdown_writes_trigger level0_stop_writes_trigger log_readahead_size max_background_compactions
        max_background_flushes max_background_jobs max_successive_merges max_write_buffer_number
        max_write_buffer_number_to_maintain memtable_insert_with_hint_prefix_size mergereadpercent
        min_level_to_compress min_write_buffer_number_to_merge num_bottom_pri_threads num_column_families
        num_deletion_threads num_high_pri_threads num_hot_column_families num_levels num_low_pri_threads
        num_multi_db open_files ops_between_duration_checks perf_level persistent_entries_value_size
        prefix_size prepopulate_blob_cache random_access_max_buffer_size rate_limit_delay_max_milliseconds
        read_amp_bytes_per_bit readahead_size readwritepercent same_value_percentage secondary_update_interval
        seek_nexts simulate_hybrid_hdd_multipliers skip_list_lookahead stats_level stats_per_interval
        table_cache_numshardbits target_file_size_multiplier thread_status_per_interval threads
        trace_replay_threads transaction_sleep universal_compression_size_percent universal_max_merge_width
        universal_max_read_amp universal_max_size_amplification_percent universal_min_merge_width
        universal_size_ratio universal_stop_style user_timestamp_size value_size value_size_max value_size_min
        writable_file_max_buffer_size
    """,
    "uint32": """
        block_protection_bytes_per_key compressed_secondary_cache_compress_format_version
        memtable_op_scan_flush_trigger memtable_protection_bytes_per_key overwrite_window_size
        uncache_aggressiveness write_batch_protection_bytes_per_key
    """,
    "int64": """
        arena_block_size batch_size block_cache_trace_max_trace_file_size_in_bytes cache_size
        compressed_cache_size compressed_secondary_cache_size db_write_buffer_size deletes hash_bucket_count
        index_shortening_mode keyrange_num keys_per_prefix max_num_range_tombstones max_scan_distance
        max_write_buffer_size_to_maintain merge_keys metadata_block_size mix_accesses mix_max_scan_len
        mix_max_value_size multiread_stride num numdistinct preclude_last_level_data_seconds
        prepopulate_block_cache preserve_internal_time_seconds range_tombstone_width
        rate_limiter_refill_period_us rate_limiter_single_burst_bytes read_cache_size reads
        report_interval_seconds row_cache_size sample_for_compression seed simcache_size stats_interval
        stats_interval_seconds target_file_size_base write_buffer_size writes writes_before_delete_range
        writes_per_range_tombstone
    """,
    "uint64": """
        backup_rate_limit benchmark_read_rate_limit benchmark_write_rate_limit blob_cache_size
        blob_compaction_readahead_size blob_db_bytes_per_sync blob_db_file_size blob_db_max_db_size
        blob_db_max_ttl_range blob_db_min_blob_size blob_db_ttl_range_secs blob_file_size bytes_per_sync
        compaction_readahead_size compression_max_dict_buffer_bytes delayed_write_rate
        delete_obsolete_files_period_micros disposable_entries_batch_size disposable_entries_delete_delay
        fifo_age_for_warm fifo_compaction_max_table_files_size_mb fifo_compaction_ttl
        hard_pending_compaction_bytes_limit initial_auto_readahead_size inplace_update_num_locks
        max_auto_readahead_size max_bytes_for_level_base max_compaction_bytes max_total_wal_size min_blob_size
        num_file_reads_for_auto_readahead periodic_compaction_seconds persistent_entries_batch_size
        rate_limiter_bytes_per_sec restore_rate_limit sine_mix_rate_interval_milliseconds
        sine_write_rate_interval_milliseconds slow_usecs soft_pending_compaction_bytes_limit
        stats_dump_period_sec stats_history_buffer_size stats_persist_period_sec subcompactions time_range
        transaction_lock_timeout transaction_sets ttl_seconds wal_bytes_per_sync wal_size_limit_MB
        wal_ttl_seconds write_thread_max_yield_usec write_thread_slow_yield_usec
    """,
    "double": """
        blob_db_gc_cutoff blob_garbage_collection_age_cutoff blob_garbage_collection_force_threshold
        cache_high_pri_pool_ratio cache_low_pri_pool_ratio compressed_secondary_cache_high_pri_pool_ratio
        compressed_secondary_cache_low_pri_pool_ratio compression_ratio cuckoo_hash_ratio
        data_block_hash_table_util_ratio experimental_mempurge_threshold hard_rate_limit iter_k iter_sigma
        iter_theta key_dist_a key_dist_b keyrange_dist_a keyrange_dist_b keyrange_dist_c keyrange_dist_d
        max_bytes_for_level_multiplier memtable_bloom_size_ratio mix_get_ratio mix_put_ratio mix_seek_ratio
        overwrite_probability read_random_exp_range sine_a sine_b sine_c sine_d sine_mix_rate_noise
        soft_rate_limit stddev trace_replay_fast_forward value_k value_sigma value_theta
    """,
    "string": """
        backup_dir benchmarks blob_compression_type blob_db_compression_type block_cache_trace_file cache_type
        cache_uri column_family_distribution compaction_fadvice compressed_secondary_cache_compression_type
        compression_manager compression_type db env_uri expire_style fs_uri hdfs leader_path
        max_bytes_for_level_multiplier_additional memtablerep merge_operator options_file read_cache_path
        report_file restore_dir secondary_cache_uri secondary_path simulate_hybrid_fs_file statistics_string
        tiered_adm_policy trace_file truth_db value_size_distribution_type wal_compression wal_dir
    """,
    "": """
        mix_ave_kv_size new_table_reader_for_compaction_inputs
    """,
}
"""The flags of RocksDB 6.11, 6.28, 7.8, 8.1 and 10.4, by the type that gflags parses ("" for unknown).

They come from each version's `tools/db_bench_tool.cc` and `--help`. If a flag's type differs between versions, the
wider type is listed. db_bench ends at once if it gets a flag that its version does not have.
"""

KNOWN = frozenset(name for names in _BY_TYPE.values() for name in names.split())
"""All flags of the five RocksDB versions."""

_KINDS = {
    "bool": FlagType("bool"),
    "int32": FlagType("integer", -(2**31), 2**31 - 1),
    "uint32": FlagType("integer", 0, 2**32 - 1),
    "int64": FlagType("integer", -(2**63), 2**63 - 1),
    "uint64": FlagType("integer", 0, 2**64 - 1),
    "double": FlagType("number"),
    "string": FlagType("text"),
}
_BOUNDS = {
    "readwritepercent": (1, 99),
    "deletepercent": (1, 99),
    "cache_numshardbits": (-(2**31), 19),
    "table_cache_numshardbits": (1, 19),
    "prefix_size": (0, 2_000_000_000),
    "subcompactions": (0, 2**32 - 1),
    "disable_seek_compaction": (0, 1),
}
"""The smallest and the largest value that db_bench itself accepts for a flag."""

_COUNTING = {
    "us": "_us _usec _usecs _micros transaction_sleep disposable_entries_delete_delay",
    "ms": "_milliseconds transaction_lock_timeout",
    "s": "_seconds _sec _secs fifo_compaction_ttl fifo_age_for_warm blob_db_max_ttl_range secondary_update_interval",
    "MiB": "_mb _MB",
}
"""For each unit, the endings of the names of the flags that use it."""

_COMPRESSIONS = ("none", "snappy", "zlib", "bzip2", "lz4", "lz4hc", "xpress", "zstd")


def _typed(name: str, of: FlagType) -> FlagType:
    minimum, maximum = _BOUNDS.get(name, (of.minimum, of.maximum))
    unit = next((unit for unit, endings in _COUNTING.items() if name.endswith(tuple(endings.split()))), "")
    unit = "" if of.kind != "integer" or name.endswith("_per_sec") else unit
    words = _COMPRESSIONS if name.endswith("compression_type") or name == "wal_compression" else ()
    return replace(of, minimum=minimum, maximum=maximum, unit=unit, words=words)


TYPES = {name: _typed(name, _KINDS[kind]) for kind, names in _BY_TYPE.items() if kind for name in names.split()}
"""The type of each flag, with its bounds and unit. Flags of unknown type are left out."""

OURS = {"cache_size": "cache", "compression_type": "compression", "write_buffer_size": "write_buffer"}
"""Flags that a spec sets by an option of the language. For each, has that option's name."""
