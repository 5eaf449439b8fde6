"""The spec of the meter `snmp`."""

from benchbrief.compiler.extensions import SCALE, SHARED, Key, Login, MeterSpec, Text, Word

SPEC = MeterSpec(
    api=1,
    name="snmp",
    doc="A number that a PDU's outlet or a UPS gives by SNMP, asked by `snmpget`.",
    implementation="benchbrief.runners.meters.snmp.snmp_meter:Snmp",
    boundary="wall",
    address="the PDU of each host",
    usage='`snmp("pdu.lab", outlet: "[1-4]", family: apc, community: secret("SNMP_COMMUNITY"))`',
    arguments={
        "oid": Key(Text(), "The number's object identifier.", default="that of the `outlet`"),
        "outlet": Key(Text(), "The outlet's number, for a `family` of PDUs.", default="what the `oid` is of"),
        "family": Key(Word(("apc", "raritan", "servertech", "sentry3")), "Which PDU it is, for an `outlet`."),
        "community": Key(Login(secret=True, example="SNMP_COMMUNITY"), "The community (SNMPv2c)."),
        "user": Key(Login(secret=False, example="SNMP_USER"), "Who asks (SNMPv3)."),
        "auth": Key(Login(secret=True, example="SNMP_AUTH"), "The passphrase that proves who asks (SNMPv3)."),
        "privacy": Key(Login(secret=True, example="SNMP_PRIVACY"), "The passphrase that hides what is said (SNMPv3)."),
        "auth_protocol": Key(Word(("sha", "sha256", "sha512", "md5")), "How `auth` proves it (SNMPv3).", default="sha"),
        "privacy_protocol": Key(Word(("aes", "des")), "How `privacy` hides it (SNMPv3).", default="aes"),
        "scale": SCALE,
        "shared": SHARED,
    },
    parts=("oid", "outlet"),
    needs=(("oid", "outlet"), ("community", "user")),
    needs_another={
        "outlet": "family",
        "family": "outlet",
        "auth": "user",
        "privacy": "auth",
        "auth_protocol": "auth",
        "privacy_protocol": "privacy",
    },
    exclude=(("community", "user"), ("oid", "outlet")),
)
