"""Flags of db_bench: which there are, and which no database option may be. The driver that sets them reads this too."""

from __future__ import annotations

import re

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
"""Those that the driver sets itself, or that would move the data elsewhere, each with where a spec says it."""

FLAG = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
"""What every flag of db_bench looks like."""

_KNOWN = """
    adaptive_readahead advise_random_on_open allow_concurrent_memtable_write allow_data_in_errors arena_block_size
    async_io auto_prefix_mode auto_readahead_size auto_refresh_iterator_with_snapshot avoid_flush_during_recovery
    avoid_flush_during_shutdown backup_dir backup_rate_limit base_background_compactions batch_size
    benchmark_read_rate_limit benchmark_write_rate_limit benchmarks blob_cache_numshardbits blob_cache_size
    blob_compaction_readahead_size blob_compression_type blob_db_bytes_per_sync blob_db_compression_type
    blob_db_enable_gc blob_db_file_size blob_db_gc_cutoff blob_db_is_fifo blob_db_max_db_size blob_db_max_ttl_range
    blob_db_min_blob_size blob_db_ttl_range_secs blob_file_size blob_file_starting_level
    blob_garbage_collection_age_cutoff blob_garbage_collection_force_threshold block_align block_cache_trace_file
    block_cache_trace_max_trace_file_size_in_bytes block_cache_trace_sampling_frequency
    block_protection_bytes_per_key block_restart_interval block_size bloom_bits bloom_locality build_info
    bytes_per_sync cache_high_pri_pool_ratio cache_index_and_filter_blocks cache_low_pri_pool_ratio
    cache_numshardbits cache_size cache_type cache_uri charge_blob_cache
    charge_compression_dictionary_building_buffer charge_file_metadata charge_filter_construction
    charge_table_reader check_flush_compaction_key_order checksum_type column_family_distribution compaction_fadvice
    compaction_pri compaction_readahead_size compaction_style compressed_cache_size
    compressed_secondary_cache_compress_format_version compressed_secondary_cache_compression_level
    compressed_secondary_cache_compression_type compressed_secondary_cache_high_pri_pool_ratio
    compressed_secondary_cache_low_pri_pool_ratio compressed_secondary_cache_numshardbits
    compressed_secondary_cache_size compression_level compression_manager compression_max_dict_buffer_bytes
    compression_max_dict_bytes compression_parallel_threads compression_ratio compression_type
    compression_use_zstd_dict_trainer compression_zstd_max_train_bytes confidence_interval_only
    cost_write_buffer_to_cache cuckoo_hash_ratio data_block_hash_table_util_ratio db db_write_buffer_size
    decouple_partitioned_filters delayed_write_rate delete_obsolete_files_period_micros deletepercent deletes
    disable_auto_compactions disable_seek_compaction disable_wal disposable_entries_batch_size
    disposable_entries_delete_delay disposable_entries_value_size dump_malloc_stats duration enable_blob_files
    enable_blob_garbage_collection enable_cpu_prio enable_index_compression enable_io_prio enable_numa
    enable_pipelined_write enable_write_thread_adaptive_yield env_uri expand_range_tombstones
    experimental_mempurge_threshold expire_style explicit_snapshot fifo_age_for_warm
    fifo_compaction_allow_compaction fifo_compaction_max_table_files_size_mb fifo_compaction_ttl file_checksum
    file_opening_threads finish_after_writes force_consistency_checks format_version fs_uri
    hard_pending_compaction_bytes_limit hard_rate_limit hash_bucket_count hdfs histogram identity_as_first_hash
    index_block_restart_interval index_shortening_mode index_with_first_key initial_auto_readahead_size
    inplace_update_num_locks inplace_update_support io_uring_enabled iter_k iter_sigma iter_theta key_dist_a
    key_dist_b key_id_range key_size keyrange_dist_a keyrange_dist_b keyrange_dist_c keyrange_dist_d keyrange_num
    keys_per_prefix leader_path level0_file_num_compaction_trigger level0_slowdown_writes_trigger
    level0_stop_writes_trigger level_compaction_dynamic_level_bytes log_readahead_size manual_wal_flush
    max_auto_readahead_size max_background_compactions max_background_flushes max_background_jobs
    max_bytes_for_level_base max_bytes_for_level_multiplier max_bytes_for_level_multiplier_additional
    max_compaction_bytes max_num_range_tombstones max_scan_distance max_successive_merges max_total_wal_size
    max_write_buffer_number max_write_buffer_number_to_maintain max_write_buffer_size_to_maintain
    memtable_bloom_size_ratio memtable_insert_with_hint_prefix_size memtable_op_scan_flush_trigger
    memtable_protection_bytes_per_key memtable_use_huge_page memtable_whole_key_filtering memtablerep merge_keys
    merge_operator mergereadpercent metadata_block_size min_blob_size min_level_to_compress
    min_write_buffer_number_to_merge mix_accesses mix_ave_kv_size mix_get_ratio mix_max_scan_len mix_max_value_size
    mix_put_ratio mix_seek_ratio mmap_read mmap_write multiread_batched multiread_stride
    new_table_reader_for_compaction_inputs num num_bottom_pri_threads num_column_families num_deletion_threads
    num_file_reads_for_auto_readahead num_high_pri_threads num_hot_column_families num_levels num_low_pri_threads
    num_multi_db numdistinct open_as_follower open_files ops_between_duration_checks optimistic_transaction_db
    optimize_filters_for_hits optimize_filters_for_memory optimize_multiget_for_io options_file
    overwrite_probability overwrite_window_size paranoid_checks paranoid_memory_checks partition_index
    partition_index_and_filters perf_level periodic_compaction_seconds persist_stats_to_disk
    persistent_entries_batch_size persistent_entries_value_size pin_l0_filter_and_index_blocks_in_cache
    pin_top_level_index_and_filter preclude_last_level_data_seconds prefix_same_as_start prefix_size
    prepopulate_blob_cache prepopulate_block_cache preserve_internal_time_seconds print_malloc_stats
    progress_reports random_access_max_buffer_size range_tombstone_width rate_limit_auto_wal_flush
    rate_limit_bg_reads rate_limit_delay_max_milliseconds rate_limit_user_ops rate_limiter_auto_tuned
    rate_limiter_bytes_per_sec rate_limiter_refill_period_us rate_limiter_single_burst_bytes read_amp_bytes_per_bit
    read_cache_direct_read read_cache_direct_write read_cache_path read_cache_size read_random_exp_range
    read_with_latest_user_timestamp readahead_size readonly reads readwritepercent report_bg_io_stats report_file
    report_file_operations report_interval_seconds report_open_timing restore_dir restore_rate_limit
    reverse_iterator row_cache_size same_value_percentage sample_for_compression secondary_cache_uri secondary_path
    secondary_update_interval seed seek_missing_prefix seek_nexts show_table_properties simcache_size simulate_hdd
    simulate_hybrid_fs_file simulate_hybrid_hdd_multipliers sine_a sine_b sine_c sine_d sine_mix_rate
    sine_mix_rate_interval_milliseconds sine_mix_rate_noise sine_write_rate sine_write_rate_interval_milliseconds
    skip_list_lookahead slow_usecs soft_pending_compaction_bytes_limit soft_rate_limit statistics statistics_string
    stats_dump_period_sec stats_history_buffer_size stats_interval stats_interval_seconds stats_level
    stats_per_interval stats_persist_period_sec stddev strict_max_successive_merges subcompactions sync
    table_cache_numshardbits target_file_size_base target_file_size_multiplier thread_status_per_interval threads
    tiered_adm_policy time_range total_order_seek trace_file trace_replay_fast_forward trace_replay_threads
    track_and_verify_wals track_and_verify_wals_in_manifest transaction_db transaction_lock_timeout
    transaction_set_snapshot transaction_sets transaction_sleep truth_db ttl_seconds uncache_aggressiveness
    universal_allow_trivial_move universal_compression_size_percent universal_incremental universal_max_merge_width
    universal_max_read_amp universal_max_size_amplification_percent universal_min_merge_width
    universal_reduce_file_locking universal_size_ratio universal_stop_style unordered_write use_adaptive_mutex
    use_blob_cache use_blob_db use_block_based_filter use_cache_jemalloc_no_dump_allocator
    use_cache_memkind_kmem_allocator use_clock_cache use_compressed_secondary_cache use_cuckoo_table
    use_data_block_hash_index use_direct_io_for_flush_and_compaction use_direct_reads use_existing_db
    use_existing_keys use_fsync use_hash_search use_keep_filter use_plain_table use_ribbon_filter use_secondary_db
    use_shared_block_and_blob_cache use_single_deletes use_stderr_info_logger use_tailing_iterator use_tiered_cache
    use_uint64_comparator user_timestamp_size value_k value_sigma value_size value_size_distribution_type
    value_size_max value_size_min value_theta verify_checksum verify_compression wal_bytes_per_sync wal_compression
    wal_dir wal_size_limit_MB wal_ttl_seconds whole_key_filtering writable_file_max_buffer_size
    write_batch_protection_bytes_per_key write_buffer_size write_thread_max_yield_usec write_thread_slow_yield_usec
    writes writes_before_delete_range writes_per_range_tombstone
"""
KNOWN = frozenset(_KNOWN.split())
"""The flags of RocksDB 6.11, 6.28, 7.8, 8.1 and 10.4 together, from `tools/db_bench_tool.cc` of each. db_bench ends at
once on a flag that its own version does not have."""

OURS = {"cache_size": "cache", "compression_type": "compression", "write_buffer_size": "write_buffer"}
"""Flags that an option of the language sets, by its name."""
