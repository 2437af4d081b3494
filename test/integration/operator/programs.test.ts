import { execFile } from "node:child_process";
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../../..");
const run = promisify(execFile);
let project: string;

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
  await mkdir(join(project, "api/run/programs"));
  for (const name of ["launch.mjs", "build.ts"]) {
    await copyFile(join(root, "api/run/programs", name), join(project, "api/run/programs", name));
  }
  await mkdir(join(project, "node_modules"));
  for (const name of ["esbuild", "tsx", "get-tsconfig", "resolve-pkg-maps", "@esbuild"]) {
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

const builds = () => readdir(join(project, "node_modules/.cache/programs"));

it("is built once by processes that start at the same time, and finds files by its own source's path", async () => {
  const outputs = await Promise.all([1, 2, 3].map(() => launch("service", "argument")));

  expect(new Set(outputs)).toEqual(new Set([`first ${join(project, "api")} argument\n`]));
  expect(await builds()).toHaveLength(1);
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

it("does not start when a module does not compile, and leaves no build", async () => {
  const before = await builds();
  await writeSource("devnet/main.ts", "const = 1;");

  await expect(launch("service")).rejects.toThrow(/devnet\/main\.ts:1:6/);
  expect(await builds()).toEqual(before);
});
