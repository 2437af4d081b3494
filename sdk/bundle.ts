import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { bundleEntry } from "./bundle-entry.ts";

const usage = "usage: node sdk/bundle.ts write|check\n";

/** The client as our own pages load it: with viem, and what they add to it (`browser/`). */
const entry = fileURLToPath(new URL("browser/client.ts", import.meta.url));
const file = new URL("../api/pages/assets/client.js", import.meta.url);
const head = "// Generated from sdk/ by `node sdk/bundle.ts write`; not edited by hand.\n";

const commands: Readonly<Record<string, () => Promise<string>>> = { write, check };
const [name = ""] = process.argv.slice(2);
const problem = await (commands[name] ?? (async () => usage))();
process.stderr.write(problem);
process.exitCode = problem === "" ? 0 : 1;

async function write(): Promise<string> {
  await writeFile(file, await bundle());
  return "";
}

async function check(): Promise<string> {
  const written = await readFile(file, "utf8").catch(() => "");
  if (written === (await bundle())) return "";
  return "api/pages/assets/client.js differs from sdk/: node sdk/bundle.ts write\n";
}

async function bundle(): Promise<string> {
  const contents = await bundleEntry(entry, { legalComments: "none", charset: "ascii" });
  return head + Buffer.from(contents).toString();
}
