import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, it } from "node:test";

import { explain, findServer, probe, type Surroundings } from "../src/server";

const nowhere: Surroundings = {
  configured: "",
  folders: [],
  environment: {},
  home: "/home/me",
  platform: "linux",
};

const only = (...files: string[]) => (file: string) => files.includes(file);

describe("the search for bench", () => {
  it("takes the workspace's environment before the PATH", () => {
    const around = { ...nowhere, folders: ["/project"], environment: { PATH: "/usr/bin" } };
    const found = findServer(around, only("/project/.venv/bin/bench", "/usr/bin/bench"));
    assert.deepEqual(found, { command: "/project/.venv/bin/bench", args: ["lsp"], from: "workspace" });
  });

  it("looks into every folder of the workspace, then along the PATH", () => {
    const around = { ...nowhere, folders: ["/a", "/b"], environment: { PATH: "/x:/y" } };
    assert.equal(command(findServer(around, only("/b/.venv/bin/bench"))), "/b/.venv/bin/bench");
    assert.equal(command(findServer(around, only("/y/bench"))), "/y/bench");
  });

  it("does not take a bench from the current folder by an empty or relative entry of the PATH", () => {
    const around = { ...nowhere, environment: { PATH: ":.:bin:/x" } };
    assert.equal(command(findServer(around, (file) => file.endsWith("bench"))), "/x/bench");
  });

  it("takes the setting alone when there is one", () => {
    const around = { ...nowhere, configured: "/opt/bench", folders: ["/project"], environment: { PATH: "/usr/bin" } };
    assert.equal(command(findServer(around, only("/opt/bench"))), "/opt/bench");
    const missing = findServer(around, only("/project/.venv/bin/bench", "/usr/bin/bench"));
    assert.deepEqual(missing, { problem: "not found", configured: "/opt/bench", places: ["/opt/bench"] });
  });

  it("fills in the home folder and the workspace's folders", () => {
    const set = (configured: string) => ({ ...nowhere, configured, folders: ["/a", "/b"] });
    assert.equal(command(findServer(set("~/v/bench"), only("/home/me/v/bench"))), "/home/me/v/bench");
    assert.equal(command(findServer(set("${workspaceFolder}/v/bench"), only("/b/v/bench"))), "/b/v/bench");
    assert.equal(command(findServer(set("v/bench"), only("/a/v/bench"))), "/a/v/bench");
  });

  it("looks for a bare name along the PATH", () => {
    const around = { ...nowhere, configured: "bench-dev", environment: { PATH: "/usr/bin" } };
    assert.equal(command(findServer(around, only("/usr/bin/bench-dev"))), "/usr/bin/bench-dev");
  });

  it("knows where Windows keeps an environment's programs", () => {
    const around: Surroundings = {
      ...nowhere,
      folders: ["C:\\project"],
      environment: { Path: "C:\\tools" },
      platform: "win32",
    };
    const inWork = "C:\\project\\.venv\\Scripts\\bench.exe";
    assert.equal(command(findServer(around, only(inWork))), inWork);
    assert.equal(command(findServer(around, only("C:\\tools\\bench.exe"))), "C:\\tools\\bench.exe");
  });

  it("names the places that it looked into, and the next step", () => {
    const found = findServer({ ...nowhere, folders: ["/project"] }, () => false);
    assert.ok("problem" in found);
    const said = explain(found);
    assert.match(said, /\/project\/\.venv\/bin\/bench, bench on the PATH/);
    assert.match(said, /benchbrief\.path/);
  });
});

describe("a program that is found", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "bench-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  const script = (name: string, body: string) => {
    const file = path.join(folder, name);
    writeFileSync(file, `#!/bin/sh\n${body}\n`);
    chmodSync(file, 0o755);
    return { command: file, args: ["lsp"], from: "setting" } as const;
  };

  it("is usable when it has the lsp command", async () => {
    const server = script("good", '[ "$1 $2" = "lsp --help" ]');
    assert.equal(await probe(server, folder), undefined);
  });

  it("is too old when it does not know the lsp command", async () => {
    const server = script("old", "echo \"Error: No such command 'lsp'.\" >&2; exit 2");
    const problem = await probe(server, folder);
    assert.equal(problem?.problem, "too old");
    assert.match(explain(problem), /too old: it has no `lsp` command.*Update it/);
  });

  it("is told apart from one that does not run", async () => {
    const server = script("broken", "echo ModuleNotFoundError: no module named lark >&2; exit 1");
    const problem = await probe(server, folder);
    assert.equal(problem?.problem, "does not run");
    assert.match(explain(problem), /does not run: ModuleNotFoundError: no module named lark\./);
  });

  it("is given up when it does not answer", async () => {
    const problem = await probe(script("silent", "exec sleep 60"), folder, 200);
    assert.equal(problem?.problem, "does not run");
  });

  it("is named with the reason when it is no program at all", async () => {
    const problem = await probe({ command: path.join(folder, "absent"), args: ["lsp"], from: "setting" }, folder);
    assert.match(explain(problem ?? assert.fail("no problem was seen")), /does not run: .*ENOENT/);
  });
});

function command(found: ReturnType<typeof findServer>): string | undefined {
  return "command" in found ? found.command : undefined;
}
