/** The extension's entry: starts the language server, starts it again when asked, and says what to do when it can't. */

import { homedir } from "node:os";
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions } from "vscode-languageclient/node";

import { explain, findServer, probe, type Problem } from "./server";

const LANGUAGE = "bench";

let log: vscode.LogOutputChannel;
let client: LanguageClient | undefined;
/** Starts and stops follow each other: none begins before the one before it has ended. */
let turn: Promise<void> = Promise.resolve();

export function activate(context: vscode.ExtensionContext): void {
  log = vscode.window.createOutputChannel("benchbrief", { log: true });
  context.subscriptions.push(
    log,
    vscode.commands.registerCommand("benchbrief.restart", () => restart()),
    vscode.commands.registerCommand("benchbrief.showLog", () => log.show()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => restart()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("benchbrief.path")) {
        void restart();
      }
    }),
  );
  void restart();
}

export function deactivate(): Promise<void> {
  return inTurn(stop);
}

function restart(): Promise<void> {
  return inTurn(async () => {
    await stop();
    await start();
  });
}

function inTurn(action: () => Promise<void>): Promise<void> {
  turn = turn.then(action).catch((error: unknown) => log.error(String(error)));
  return turn;
}

async function stop(): Promise<void> {
  const stopped = client;
  client = undefined;
  await stopped?.dispose();
}

async function start(): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    log.info("The workspace is not trusted: highlighting only, until it is.");
    return;
  }
  const folders = (vscode.workspace.workspaceFolders ?? [])
    .filter((folder) => folder.uri.scheme === "file")
    .map((folder) => folder.uri.fsPath);
  const server = findServer({
    configured: vscode.workspace.getConfiguration("benchbrief").get<string>("path", "").trim(),
    folders,
    environment: process.env,
    home: homedir(),
    platform: process.platform,
  });
  if ("problem" in server) {
    complain(server);
    return;
  }
  const cwd = folders[0];
  const unusable = await probe(server, cwd);
  if (unusable !== undefined) {
    complain(unusable);
    return;
  }
  log.info(`Starting ${server.command} ${server.args.join(" ")} (found by: ${server.from})`);
  const executable = { command: server.command, args: [...server.args], ...(cwd === undefined ? {} : { options: { cwd } }) };
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: LANGUAGE },
      { scheme: "untitled", language: LANGUAGE },
    ],
    outputChannel: log,
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.bench") },
  };
  const started = new LanguageClient("benchbrief", "benchbrief", executable, options);
  client = started;
  await started.start();
}

function complain(problem: Problem): void {
  const message = explain(problem);
  log.error(message);
  if ("said" in problem) {
    log.error(problem.said);
  }
  const actions = ["Open Setting", "Try Again", "Show Log"] as const;
  void vscode.window.showErrorMessage(message, ...actions).then((chosen) => {
    switch (chosen) {
      case "Open Setting":
        return vscode.commands.executeCommand("workbench.action.openSettings", "benchbrief.path");
      case "Try Again":
        return restart();
      case "Show Log":
        return log.show();
      default:
        return undefined;
    }
  });
}
