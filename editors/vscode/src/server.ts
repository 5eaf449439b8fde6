/** Which program is the language server, and whether it can be: all without VS Code, so that plain Node can test it. */

import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import * as path from "node:path";

/** What the search for `bench` depends on. */
export interface Surroundings {
  /** The setting `benchbrief.path`; "" when it is not set. */
  readonly configured: string;
  /** The workspace's folders on this machine's disk. */
  readonly folders: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

export interface Server {
  readonly command: string;
  readonly args: readonly string[];
  readonly from: "setting" | "workspace" | "PATH";
}

/** Why there is no server. `places` are where it was looked for. */
export interface NotFound {
  readonly problem: "not found";
  readonly configured: string;
  readonly places: readonly string[];
}

/** A `bench` that has no language server, or does not run at all. */
export interface Unusable {
  readonly problem: "too old" | "does not run";
  readonly command: string;
  readonly said: string;
}

export type Problem = NotFound | Unusable;

export const ARGUMENTS = ["lsp"] as const;

/** The setting first, then `.venv` of each workspace folder, then the PATH. */
export function findServer(around: Surroundings, runs: (file: string) => boolean = isProgram): Server | NotFound {
  const { configured, folders, platform } = around;
  const join = platform === "win32" ? path.win32 : path.posix;
  const found = (command: string, from: Server["from"]): Server => ({ command, args: ARGUMENTS, from });
  if (configured !== "") {
    const [file, places] = configuredFile(around, join, runs);
    return file === undefined ? { problem: "not found", configured, places } : found(file, "setting");
  }
  const inFolders = folders.flatMap((folder) => inEnvironment(join.join(folder, ".venv"), join, platform));
  const workspace = inFolders.find(runs);
  if (workspace !== undefined) {
    return found(workspace, "workspace");
  }
  const onPath = onThePath("bench", around, join).find(runs);
  if (onPath !== undefined) {
    return found(onPath, "PATH");
  }
  return { problem: "not found", configured, places: [...inFolders, "bench on the PATH"] };
}

function configuredFile(
  around: Surroundings,
  join: path.PlatformPath,
  runs: (file: string) => boolean,
): [string | undefined, readonly string[]] {
  const { configured, folders, home } = around;
  const expanded = configured.replace(/^~(?=[/\\]|$)/, () => home);
  let candidates: string[];
  if (expanded.includes("${workspaceFolder}")) {
    candidates = folders.map((folder) => expanded.replaceAll("${workspaceFolder}", () => folder));
  } else if (join.isAbsolute(expanded)) {
    candidates = [expanded];
  } else if (/[/\\]/.test(expanded)) {
    candidates = folders.map((folder) => join.join(folder, expanded));
  } else {
    return [onThePath(expanded, around, join).find(runs), [`${expanded} on the PATH`]];
  }
  return [candidates.find(runs), candidates.length > 0 ? candidates : [expanded]];
}

function inEnvironment(folder: string, join: path.PlatformPath, platform: NodeJS.Platform): string[] {
  return [platform === "win32" ? join.join(folder, "Scripts", "bench.exe") : join.join(folder, "bin", "bench")];
}

function onThePath(name: string, around: Surroundings, join: path.PlatformPath): string[] {
  const key = Object.keys(around.environment).find((variable) => variable.toUpperCase() === "PATH");
  const value = (key === undefined ? undefined : around.environment[key]) ?? "";
  const file = around.platform === "win32" && join.extname(name) === "" ? `${name}.exe` : name;
  // An empty entry means the current folder, which is nobody's choice here.
  return value.split(join.delimiter).filter((folder) => join.isAbsolute(folder)).map((folder) => join.join(folder, file));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Asks the program whether it has a language server; undefined when it has. Ends within `timeout` milliseconds. */
export function probe(server: Server, cwd: string | undefined, timeout = 20_000): Promise<Unusable | undefined> {
  return new Promise((resolve) => {
    const options = { timeout, ...(cwd === undefined ? {} : { cwd }) };
    execFile(server.command, [...server.args, "--help"], options, (error, stdout, stderr) => {
      if (error === null) {
        resolve(undefined);
        return;
      }
      const output = `${stderr}${stdout}`.trim();
      // The exit code of click, and of most others, for a command that they do not have.
      const tooOld = error.code === 2 && /no such command/i.test(output);
      const said = output === "" ? error.message : output;
      resolve({ problem: tooOld ? "too old" : "does not run", command: server.command, said });
    });
  });
}

/** What is wrong and what to do next, for a person. */
export function explain(problem: Problem): string {
  switch (problem.problem) {
    case "not found":
      return problem.configured === ""
        ? `benchbrief: there is no \`bench\` command. Looked for ${problem.places.join(", ")}. ` +
            "Install it (`pip install .` in a clone of benchbrief, into .venv of this folder), or set `benchbrief.path`."
        : `benchbrief: \`benchbrief.path\` is "${problem.configured}", which is no program. ` +
            `Looked for ${problem.places.join(", ")}. Correct the setting, or clear it to search .venv and the PATH.`;
    case "too old":
      return (
        `benchbrief: ${problem.command} is too old: it has no \`lsp\` command. ` +
        "Update it (`pip install --upgrade` where it was installed), or set `benchbrief.path` to a newer one."
      );
    case "does not run":
      return (
        `benchbrief: ${problem.command} does not run: ${lastLine(problem.said)} ` +
        "Try `bench --version` in a terminal, or set `benchbrief.path` to another one."
      );
  }
}

function lastLine(text: string): string {
  const line = text.trim().split("\n").at(-1)?.trim() ?? "";
  return /[.!?]$/.test(line) ? line : `${line}.`;
}
