import assert from "node:assert/strict";
import { describe, it } from "node:test";

import configuration from "../language-configuration.json";

const { increaseIndentPattern, decreaseIndentPattern } = configuration.indentationRules;
const increases = new RegExp(increaseIndentPattern);
const decreases = new RegExp(decreaseIndentPattern);

describe("the indentation", () => {
  const opening = [
    'hardware eco "5100 {ECO}" {',
    "experiment ramp {  # a comment, with a }",
    "  override workload {",
    "  threads = [",
    "metric m = max(",
    '  text = """',
  ];
  for (const line of opening) {
    it(`grows after ${line}`, () => assert.match(line, increases));
  }

  const flat = [
    "hardware box { hosts = local }",
    "# hardware box {",
    '  subtitle = "{a"',
    "  threads = [1, 2]",
    '  """',
    "}",
    '  note = "said [',
  ];
  for (const line of flat) {
    it(`stays after ${line}`, () => assert.doesNotMatch(line, increases));
  }

  it("shrinks at what closes", () => {
    for (const line of ["}", "  ]", "  ) + 1", '  """']) {
      assert.match(line, decreases);
    }
    assert.doesNotMatch('  text = """', decreases);
  });
});

describe("a word of the language", () => {
  it("is a name or a number, so that a double click takes neither the dot nor the unit", () => {
    const words = "latency.p99[read] = 1_000.5 ms".match(new RegExp(configuration.wordPattern, "g"));
    assert.deepEqual(words, ["latency", "p99", "read", "1_000.5", "ms"]);
  });
});
