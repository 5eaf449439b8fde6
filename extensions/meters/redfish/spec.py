from benchbrief.extend.spec import SHARED, Flag, Key, Login, MeterSpec, Special, Text, Word

SPEC = MeterSpec(
    api=3,
    name="redfish",
    doc="The BMC of each host, asked over HTTPS (Redfish `PowerWatts` or `PowerConsumedWatts`).",
    implementation="benchbrief.extensions.meters.redfish.redfish_bmc:Redfish",
    boundary="node",
    address="the address of each host's BMC",
    usage='`redfish("https://bmc-[1-4].lab", user: env("BMC_USER"), password: secret("BMC_PASSWORD"))`',
    arguments={
        "user": Key(Login(secret=False, example="BMC_USER"), "Who logs in.", required=True),
        "password": Key(Login(secret=True, example="BMC_PASSWORD"), "The password.", required=True),
        "chassis": Key(Text(), "The chassis that is read.", default="the only one"),
        "control": Key(Text(), "Which of its power controls is read, by name.", default="the only one"),
        "auth": Key(
            Word(("basic", "session")),
            "How it logs in: with every request, or once, with a session that is ended afterwards.",
            default="basic",
        ),
        "ca_file": Key(
            Text(absolute=True),
            "A file on the controller with the certificates that are trusted.",
            default="those of the controller's system",
            file="controller",
        ),
        "fingerprint": Key(
            Special("the SHA-256 of a certificate in hexadecimal digits, or a list of those"),
            "The BMC's own certificate (of several BMCs, a list), in place of one signed by an authority.",
            default="a certificate that is signed",
        ),
        "verify": Key(Flag(), "`false` takes any certificate: anyone may get the password.", default="true"),
        "shared": SHARED,
    },
    parts=("chassis",),
    address_is="url",
    exclude=(("ca_file", "fingerprint"), ("ca_file", "verify"), ("fingerprint", "verify")),
)
