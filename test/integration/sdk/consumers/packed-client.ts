import { execFile } from "node:child_process";
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

export const run = promisify(execFile);
export const root = join(import.meta.dirname, "../../../..");
const recipesFolder = join(root, "docs/recipes");

/** A project of somebody else with the packed client, the recipes of the documents, and the programs of the tests. */
export type PackedClient = {
  readonly directory: string;
  /** What the compiler says in strict mode; empty: nothing. */
  readonly compiled: string;
  /** The recipes' names without `.md`. */
  readonly recipes: readonly string[];
  close(): Promise<void>;
};

/** What the project uses beside the client; linked, since there is no network. */
const linked = ["viem", "pg", "@types/node", "@types/pg"];
const programs = ["uses.ts", "acceptance.ts"];

/** Packs the client, installs it from its file, and compiles programs that use it. */
export async function packClient(): Promise<PackedClient> {
  const directory = await mkdtemp(join(tmpdir(), "order-book-caller-"));
  await installPackedClient(directory);
  const recipes = await writePrograms(directory);
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const compiled = await run(process.execPath, [tsc, "-p", "."], { cwd: directory }).catch(
    (error: { stdout: string }) => error,
  );
  const close = () => rm(directory, { recursive: true, force: true });
  return { directory, compiled: compiled.stdout, recipes, close };
}

/** Packs the client and installs it, as its callers do. */
export async function installPackedClient(directory: string): Promise<void> {
  // The build is a script of the package, which an installation without scripts would leave out.
  const pack = ["pack", "--silent", "--ignore-scripts=false", "--pack-destination", directory];
  const { stdout } = await run("npm", pack, { cwd: join(root, "sdk") });
  const file = stdout.trim().split("\n").at(-1) ?? "";
  await writeFile(join(directory, "package.json"), '{ "private": true, "type": "module" }');
  const options = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  await run("npm", ["install", ...options, `./${file}`], { cwd: directory });
  for (const name of linked) {
    const link = join(directory, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, "node_modules", name), link);
  }
}

/** The README's examples, and the recipes once for Node and once for browsers, each beside its `set-up.ts`. */
async function writePrograms(directory: string): Promise<string[]> {
  for (const name of programs)
    await copyFile(join(import.meta.dirname, name), join(directory, name));
  const readme = await codeOf(join(root, "sdk/README.md"));
  await writeFile(join(directory, "readme.ts"), [callersNames, ...readme].join("\n"));
  const [inNode = "", inBrowser = ""] = await codeOf(join(recipesFolder, "set-up.md"));
  const setUps = { node: inNode, browser: inBrowser };
  for (const [place, code] of Object.entries(setUps)) {
    await mkdir(join(directory, place));
    await writeFile(join(directory, place, "set-up.ts"), code);
  }
  const files = (await readdir(recipesFolder)).filter((name) => !/^(?:README|set-up)\./.test(name));
  for (const file of files) {
    const [code = ""] = await codeOf(join(recipesFolder, file));
    const places = code.includes("./set-up.ts") ? ["node", "browser"] : ["node"];
    for (const place of places)
      await writeFile(join(directory, place, file.replace(/md$/, "ts")), code);
  }
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    ...{ module: "nodenext", target: "es2022", lib: ["es2023", "dom", "dom.iterable"] },
    ...{ types: ["node"], skipLibCheck: true, rewriteRelativeImportExtensions: true },
  };
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  return files.map((file) => file.replace(/\.md$/, ""));
}

/** What the examples of the client's README take from their caller. */
const callersNames = `
declare const key: string, collection: string, askId: string, signal: AbortSignal;
declare const contract: import("viem").Address, tokenId: bigint, bidId: string;
declare const maxPriceWei: bigint, minNetWei: bigint;
declare const walletClient: import("viem").WalletClient, publicClient: import("viem").PublicClient;
declare const buyer: import("order-book/viem").Trader;
declare const show: (what: unknown) => void, load: () => Promise<string>;
declare const apply: (event: import("order-book").MarketEvent) => Promise<void>;
declare const save: (id: string) => Promise<void>;
declare const request: import("node:http").IncomingMessage, rawBody: Uint8Array, secret: string;`;

/** The blocks of code of a document, as they stand there. */
async function codeOf(file: string): Promise<string[]> {
  const text = await readFile(file, "utf8");
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
}
