from benchbrief.extend.spec import MeasuredAnew, ToolSpec

SPEC = ToolSpec(
    api=3,
    name="go_ycsb",
    label="go-ycsb",
    doc="go-ycsb: YCSB's workloads without a Java machine.",
    implementation="benchbrief.extensions.tools.go_ycsb.go_ycsb:GoYcsb",
    install="tools/setup.sh go-ycsb",
    runs="ycsb",
    open_loop=True,
    arrivals=("constant",),
    time_series=True,
    # go-ycsb's interim rows and percentiles are cumulative, so it has no phases.
    loads=True,
    loads_in_parts=True,
    measured_anew=(MeasuredAnew(4),),  # it loads from all hosts
    stray_errors=0.001,  # healthy servers show a few `no documents` errors
    where_settings_go=(
        "what it is to do as attributes of the `workload`, and how it connects as `options` of the `database`"
    ),
)
