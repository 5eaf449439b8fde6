// Writes dist/NOTICES.txt: the licences of the packages whose code is in the bundle, as esbuild's metafile lists them.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const { inputs } = JSON.parse(readFileSync("dist/meta.json", "utf8"));
const folders = new Set(Object.keys(inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []));
const notices = [...folders].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) {
    throw new Error(`${name} ${version} (${license}) ships no licence text`);
  }
  return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
});
writeFileSync("dist/NOTICES.txt", ["This extension contains the following packages.\n", ...notices].join(`\n${"-".repeat(80)}\n\n`));
