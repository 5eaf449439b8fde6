/** Prints how the grammar tokenises files, by the engine that VS Code uses: `node tokens.js GRAMMAR FILE...`, as JSON. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createOnigScanner, createOnigString, loadWASM } from "vscode-oniguruma";
import { INITIAL, parseRawGrammar, Registry } from "vscode-textmate";

interface Token {
  readonly text: string;
  /** All scopes but the file's own, the outermost first. */
  readonly scopes: readonly string[];
}

async function main([grammarFile, ...files]: string[]): Promise<void> {
  if (grammarFile === undefined) {
    throw new Error("usage: tokens.js GRAMMAR FILE...");
  }
  const wasm = readFileSync(createRequire(__filename).resolve("vscode-oniguruma/release/onig.wasm"));
  await loadWASM(wasm);
  const registry = new Registry({
    onigLib: Promise.resolve({ createOnigScanner, createOnigString }),
    loadGrammar: async () => parseRawGrammar(readFileSync(grammarFile, "utf8"), "bench.tmLanguage.json"),
  });
  const grammar = await registry.loadGrammar("source.bench");
  if (grammar === null) {
    throw new Error(`${grammarFile} holds no grammar`);
  }
  const result: Record<string, Token[][]> = {};
  for (const file of files) {
    let stack = INITIAL;
    result[file] = readFileSync(file, "utf8")
      .split(/\r?\n/)
      .map((line) => {
        const { tokens, ruleStack, stoppedEarly } = grammar.tokenizeLine(line, stack);
        if (stoppedEarly) {
          throw new Error(`${file}: the line took too long: ${line}`);
        }
        stack = ruleStack;
        return tokens.map(({ startIndex, endIndex, scopes }) => ({
          text: line.slice(startIndex, endIndex),
          scopes: scopes.slice(1),
        }));
      });
  }
  process.stdout.write(JSON.stringify(result));
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
