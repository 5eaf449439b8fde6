from benchbrief.extend.spec import SHARED, Key, Login, MeterSpec, Number, Text

SPEC = MeterSpec(
    api=3,
    name="ipmi",
    doc="The BMC of each host, asked over the network by `ipmitool`; `ipmi` alone asks it on the host, as root.",
    implementation="benchbrief.extensions.meters.ipmi.ipmi_meter:Ipmi",
    boundary="node",
    address="the BMC of each host",
    usage='`ipmi("bmc-[1-4].lab", user: env("BMC_USER"), password: secret("BMC_PASSWORD"))`',
    arguments={
        "user": Key(Login(secret=False, example="BMC_USER"), "Who logs in.", required=True),
        "password": Key(Login(secret=True, example="BMC_PASSWORD"), "The password.", required=True),
        "sensor": Key(Text(), "The sensor that is read, for a BMC without DCMI.", default="its power reading (DCMI)"),
        "cipher": Key(
            Number("", "3", plain=True, integer=True, maximum=17.0),
            "The cipher suite.",
            default="what `ipmitool` agrees on with the BMC",
        ),
        "shared": SHARED,
    },
    parts=("sensor",),
    local=True,
)
