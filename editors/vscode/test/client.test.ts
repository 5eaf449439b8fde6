/** The server that the extension would start for a workspace, spoken to as the extension's client speaks. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import {
  createProtocolConnection,
  DidOpenTextDocumentNotification,
  ExitNotification,
  InitializedNotification,
  InitializeRequest,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  type PublishDiagnosticsParams,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";

import { findServer, probe } from "../src/server";

/** A `bench` command to put into the workspace's `.venv`. */
const bench = process.env["BENCH"];

describe("the server found in a workspace", { skip: bench === undefined && "BENCH names no bench command" }, () => {
  let workspace: string;
  let server: ChildProcess;
  let connection: ProtocolConnection;

  before(async () => {
    workspace = mkdtempSync(path.join(tmpdir(), "workspace-"));
    mkdirSync(path.join(workspace, ".venv", "bin"), { recursive: true });
    symlinkSync(bench ?? "", path.join(workspace, ".venv", "bin", "bench"));
    const found = findServer({
      configured: "",
      folders: [workspace],
      environment: process.env,
      home: homedir(),
      platform: process.platform,
    });
    assert.ok("command" in found);
    assert.equal(found.from, "workspace");
    assert.equal(await probe(found, workspace), undefined);
    const { stdout, stdin } = (server = spawn(found.command, [...found.args], {
      cwd: workspace,
      stdio: ["pipe", "pipe", "inherit"],
    }));
    assert.ok(stdout !== null && stdin !== null);
    connection = createProtocolConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin));
    connection.listen();
  });

  after(() => {
    server.kill();
    rmSync(workspace, { recursive: true });
  });

  it("answers initialize, tells of a mistake in an open spec, and ends when told to", async () => {
    const rootUri = pathToFileURL(workspace).href;
    const { capabilities } = await connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri,
      workspaceFolders: [{ uri: rootUri, name: "workspace" }],
      capabilities: { textDocument: { publishDiagnostics: { versionSupport: true } } },
    });
    assert.ok(capabilities.textDocumentSync !== undefined);
    await connection.sendNotification(InitializedNotification.type, {});

    const uri = `${rootUri}/spec.bench`;
    const told = new Promise<PublishDiagnosticsParams>((resolve) => {
      connection.onNotification(PublishDiagnosticsNotification.type, resolve);
    });
    await connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: "bench", version: 1, text: "hardware box { hots = local }\n" },
    });
    const { uri: about, diagnostics } = await told;
    assert.equal(about, uri);
    assert.match(JSON.stringify(diagnostics), /hosts/);

    await connection.sendRequest(ShutdownRequest.type);
    const ended = once(server, "exit");
    await connection.sendNotification(ExitNotification.type);
    assert.deepEqual(await ended, [0, null]);
  });
});
