import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../../..");
const run = promisify(execFile);
let project: string;

/** A Ponder of a few lines, with the places that our program changes. */
const ponder = {
  "index.js": "",
  "bin/ponder.js": `
    import { settings } from "../build/index.js";
    import { isLogFilterMatched } from "../runtime/filter.js";
    import { range } from "../runtime/historical.js";
    import { isInBloom } from "../sync-realtime/bloom.js";
    import { insertLogs } from "../sync-store/index.js";
    const isMatched = (topic) =>
      isLogFilterMatched({ filter: { topic0: ["0xa", "0xb"] }, log: { topics: [topic] } });
    const $client = { query: ({ text }) => text.includes("unnest") };
    const logs = { [Symbol.for("drizzle:Columns")]: {} };
    await insertLogs({ $client }, { logs });
    console.log(process.argv[2], JSON.stringify({
      ...{ settings, range, matched: ["0xA", "0xc"].map(isMatched) },
      inBloom: isInBloom("0x" + "00".repeat(256), "0xa0"),
    }));`,
  "build/index.js": "export const settings = { publicDir: false, server: { hmr: false }, };",
  "runtime/historical.js":
    'export const range = { target: params.common.options.command === "dev" ? 2000 : 10000, };',
  "runtime/filter.js": `
const isValueMatched = () => {
    throw new Error("Ponder's own");
};
export const isLogFilterMatched = ({ filter, log, }) => {
    return true;
};`,
  "sync-realtime/bloom.js": `
export const isInBloom = () => {
    throw new Error("Ponder's own");
};`,
  "sync-store/index.js": `
export const insertLogs = (db, PONDER_SYNC, logs = [], i = 0, batchSize = 1) => db
                    .insert(PONDER_SYNC.logs)
                    .values(logs
                    .slice(i, i + batchSize)
                    .map((log) => log))
                    .onConflictDoNothing({
                    target: [],
                });`,
};

/** A project of the same layout with programs of a line or two, and the launcher of this one. */
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "programs-"));
  for (const folder of ["abis", "projections", "src"]) await mkdir(join(project, folder));
  await writeSource("package.json", '{ "type": "module" }');
  await writeSource("package-lock.json", "{}");
  await writeSource("api/main.ts", 'console.log("first", import.meta.dirname, process.argv[2]);');
  await writeSource(
    "api/run/operator/main.ts",
    '\n\nthrow new Error("on the third line" as string);',
  );
  await writeSource("devnet/main.ts", "");
  const programs = "api/run/programs";
  await cp(join(root, programs), join(project, programs), { recursive: true });
  for (const [name, code] of Object.entries(ponder)) await writeModule(name, code);
  for (const name of ["esbuild", "tsx", "get-tsconfig", "resolve-pkg-maps", "@esbuild", "viem"]) {
    await symlink(join(root, "node_modules", name), join(project, "node_modules", name));
  }
});

afterAll(() => rm(project, { recursive: true, force: true }));

async function writeSource(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(project, path)), { recursive: true });
  await writeFile(join(project, path), content);
}

async function launch(...args: string[]): Promise<string> {
  const launcher = join(project, "api/run/programs/launch.mjs");
  const { stdout } = await run(process.execPath, [launcher, ...args]);
  return stdout;
}

const writeModule = (name: string, code: string) =>
  writeSource(join("node_modules/ponder/dist/esm", name), code);
const builds = () => readdir(join(project, "node_modules/.cache/programs"));

it("is built once by processes that start at the same time, and finds files by its own source's path", async () => {
  const outputs = await Promise.all([1, 2, 3].map(() => launch("service", "argument")));

  expect(new Set(outputs)).toEqual(new Set([`first ${join(project, "api")} argument\n`]));
  expect(await builds()).toHaveLength(1);
});

it("is Ponder's command line with its changes", async () => {
  const [argument, changed] = (await launch("ponder", "start")).split(/ (.*)/s);
  expect(argument).toBe("start");
  const [build] = await builds();
  const alias = join(project, "node_modules/.cache/programs", `${build}`, "ponder-package.mjs");
  const server = { hmr: false, preTransformRequests: false };
  expect(JSON.parse(`${changed}`)).toEqual({
    settings: { publicDir: false, resolve: { alias: { ponder: alias } }, server },
    ...{ range: { target: 5_000 }, matched: [true, false], inBloom: false },
  });
});

it("is built again when a source has changed", async () => {
  await writeSource("api/main.ts", 'console.log("another line");');

  expect(await launch("service")).toBe("another line\n");
  expect(await builds()).toHaveLength(2);
});

it("removes builds that are unused for long, of none that may be in use or that another process is making", async () => {
  const parent = join(project, "node_modules/.cache/programs");
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  const add = async (name: string, unusedMinutes: number) => {
    await mkdir(join(parent, name));
    await utimes(join(parent, name), minutesAgo(unusedMinutes), minutesAgo(unusedMinutes));
    return name;
  };
  const digest = (digit: number) => `${digit}`.repeat(20);
  const recent = await Promise.all([1, 2, 3, 4, 5].map((one) => add(digest(one), one)));
  const old = await add(digest(6), 60);
  const beingMade = await add(`${digest(7)}-abcdef`, 5);
  const leftByKilled = await add(`${digest(8)}-abcdef`, 180);
  await writeSource("api/main.ts", 'console.log("a third line");');

  await launch("service");
  const left = await builds();
  expect(left).toEqual(expect.arrayContaining([...recent, beingMade]));
  expect(left.filter((one) => one === old || one === leftByKilled)).toEqual([]);
  for (const one of [...recent, beingMade]) await rm(join(parent, one), { recursive: true });
});

it("fails with the line of the source", async () => {
  await expect(launch("op")).rejects.toThrow(/api\/run\/operator\/main\.ts:3:7/);
});

it("does not start when an upgraded Ponder lacks a place that is changed", async () => {
  const before = await builds();
  const renamed = ponder["sync-realtime/bloom.js"].replace("isInBloom", "isInFilter");
  await writeModule("sync-realtime/bloom.js", renamed);
  await writeSource("package-lock.json", '{ "upgraded": true }');
  await expect(launch("ponder")).rejects.toThrow(/bloom\.js does not match/);

  await writeModule("bin/ponder.js", "");
  await expect(launch("ponder")).rejects.toThrow(/Ponder: it has no module build\/index\.js/);
  expect(await builds()).toEqual(before);
  for (const [name, code] of Object.entries(ponder)) await writeModule(name, code);
});

it("does not start when a module does not compile, and leaves no build", async () => {
  const before = await builds();
  await writeSource("devnet/main.ts", "const = 1;");

  await expect(launch("service")).rejects.toThrow(/devnet\/main\.ts:1:6/);
  expect(await builds()).toEqual(before);
});
