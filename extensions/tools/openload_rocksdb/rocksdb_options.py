"""The options of RocksDB 7.8 that a spec may set, and their types. They are named as in RocksDB's options files."""

from __future__ import annotations

from benchbrief.extend.spec import Flags, FlagType

RESERVED = {
    "wal_dir": "`path` in the database",
    "db_log_dir": "",
    "db_paths": "`path` in the database",
    "cf_paths": "`path` in the database",
    "statistics": "the probe `database`",
    "create_if_missing": "",
    "create_missing_column_families": "",
    "error_if_exists": "",
    "comparator": "",
    "merge_operator": "",
    "table_factory": "",
    "block_based_table_factory": "",
}
"""Options that the driver sets itself or that would change the data. For each, names the place in a spec to set it
instead, if there is one."""

_OPTIONS = {
    "bool": """
        advise_random_on_open allow_2pc allow_concurrent_memtable_write allow_data_in_errors allow_fallocate
        allow_ingest_behind allow_mmap_reads allow_mmap_writes atomic_flush avoid_flush_during_recovery
        avoid_flush_during_shutdown avoid_unnecessary_blocking_io best_efforts_recovery
        check_flush_compaction_key_order disable_auto_compactions dump_malloc_stats enable_blob_files
        enable_blob_garbage_collection enable_pipelined_write enable_thread_tracking
        enable_write_thread_adaptive_yield enforce_single_del_contracts fail_if_options_file_error
        flush_verify_memtable_count force_consistency_checks ignore_max_compaction_bytes_for_input
        inplace_update_support level_compaction_dynamic_file_size level_compaction_dynamic_level_bytes
        manual_wal_flush memtable_whole_key_filtering optimize_filters_for_hits paranoid_checks
        paranoid_file_checks persist_stats_to_disk report_bg_io_stats skip_checking_sst_file_sizes_on_db_open
        skip_stats_update_on_db_open strict_bytes_per_sync track_and_verify_wals_in_manifest two_write_queues
        unordered_write use_adaptive_mutex use_direct_io_for_flush_and_compaction use_direct_reads use_fsync
        verify_sst_unique_id_in_manifest write_dbid_to_manifest
    """,
    "integer": """
        arena_block_size bgerror_resume_retry_interval blob_compaction_readahead_size blob_file_size
        blob_file_starting_level bloom_locality bytes_per_sync compaction_readahead_size db_write_buffer_size
        delayed_write_rate delete_obsolete_files_period_micros hard_pending_compaction_bytes_limit
        inplace_update_num_locks keep_log_file_num level0_file_num_compaction_trigger
        level0_slowdown_writes_trigger level0_stop_writes_trigger log_file_time_to_roll log_readahead_size
        manifest_preallocation_size max_background_compactions max_background_flushes max_background_jobs
        max_bgerror_resume_count max_bytes_for_level_base max_compaction_bytes max_file_opening_threads
        max_log_file_size max_manifest_file_size max_open_files max_sequential_skip_in_iterations
        max_subcompactions max_successive_merges max_total_wal_size max_write_batch_group_size_bytes
        max_write_buffer_number max_write_buffer_number_to_maintain max_write_buffer_size_to_maintain
        memtable_huge_page_size memtable_protection_bytes_per_key min_blob_size min_write_buffer_number_to_merge
        num_levels periodic_compaction_seconds preclude_last_level_data_seconds preserve_internal_time_seconds
        random_access_max_buffer_size recycle_log_file_num sample_for_compression
        soft_pending_compaction_bytes_limit stats_dump_period_sec stats_history_buffer_size
        stats_persist_period_sec table_cache_numshardbits target_file_size_base target_file_size_multiplier ttl
        wal_bytes_per_sync WAL_size_limit_MB WAL_ttl_seconds writable_file_max_buffer_size write_buffer_size
        write_thread_max_yield_usec write_thread_slow_yield_usec
    """,
    "number": """
        blob_garbage_collection_age_cutoff blob_garbage_collection_force_threshold
        experimental_mempurge_threshold max_bytes_for_level_multiplier memtable_prefix_bloom_size_ratio
    """,
    "text": """
        access_hint_on_compaction_start blob_compression_type bottommost_compression bottommost_compression_opts
        compaction_options_fifo compaction_options_universal compaction_pri compaction_style compression
        compression_opts info_log_level last_level_temperature max_bytes_for_level_multiplier_additional
        memtable_factory prefix_extractor prepopulate_blob_cache wal_compression wal_recovery_mode
    """,
}

_OF_TABLES = {
    "bool": """
        block_align cache_index_and_filter_blocks cache_index_and_filter_blocks_with_high_priority
        detect_filter_construct_corruption enable_index_compression optimize_filters_for_memory
        partition_filters pin_l0_filter_and_index_blocks_in_cache pin_top_level_index_and_filter
        verify_compression whole_key_filtering
    """,
    "integer": """
        block_restart_interval block_size block_size_deviation format_version index_block_restart_interval
        initial_auto_readahead_size max_auto_readahead_size metadata_block_size
        num_file_reads_for_auto_readahead read_amp_bytes_per_bit
    """,
    "number": """
        data_block_hash_table_util_ratio
    """,
    "text": """
        checksum data_block_index_type filter_policy index_shortening index_type metadata_cache_options
        prepopulate_block_cache
    """,
}
"""The table format's options by type, as RocksDB 7.8.3 writes them into a database's options file."""

_KINDS = {
    "bool": FlagType("bool"),
    "integer": FlagType("integer", -(2**63), 2**63 - 1),
    "number": FlagType("number"),
    "text": FlagType("text"),
}

OF_TABLES = frozenset(name for names in _OF_TABLES.values() for name in names.split())
"""The options of the table format, which RocksDB takes as one group."""

TYPES = {
    name: _KINDS[kind] for table in (_OPTIONS, _OF_TABLES) for kind, names in table.items() for name in names.split()
}

RENAMED = {"write_buffer_size": "write_buffer", "block_cache": "cache", "filter_policy": "bloom_bits"}
"""RocksDB's options that have a different name in the language, each with that name."""

FLAGS = Flags("RocksDB 7.8", "7.8", frozenset(TYPES), RESERVED, RENAMED, TYPES, complete=True)
