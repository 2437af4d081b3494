import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockSchema } from "#ops/ponder/ponder-schema.ts";
import { launch } from "#ops/programs.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type SilentProxy, startSilentProxy } from "#test/support/database/silent-proxy.ts";

let directory: string;
let database: TestDatabase;
let other: TestDatabase;
let proxy: SilentProxy;
let child: ChildProcess | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "silent-"));
  database = await createDatabase({ template: "projected" });
  other = await createDatabase({ template: "projected" });
  proxy = await startSilentProxy(database.url);
});
afterEach(async () => {
  child?.kill("SIGKILL");
  await proxy.close();
  await database.drop();
  await other.drop();
  await rm(directory, { recursive: true, force: true });
});

type Started = { messages: string[]; failedJobs: string[]; exited: Promise<number | null> };

/** Starts a role as a service manager does, and waits until it works. */
async function start(
  role: string,
  more: Record<string, string> = {},
  readyAt = "process ready",
): Promise<Started> {
  const started = spawn(process.execPath, launch("service", "--only", role), {
    env: {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: directory },
      ...{ DATABASE_URL: proxy.url, LOG_FORMAT: "json", PRICE_FEED_URLS: "none" },
      ...{ RPC_URL_1: "http://127.0.0.1:9", RPC_URL_33139: "http://127.0.0.1:9" },
      ...{ FEE_RECIPIENT: "0x00000000000000000000000000000000000fee01", ...more },
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  child = started;
  const messages: string[] = [];
  const failedJobs: string[] = [];
  const exited = new Promise<number | null>((resolve) => started.once("exit", resolve));
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: started.stdout }).on("line", (line) => {
      const { msg, job } = JSON.parse(line) as { msg: string; job?: string };
      messages.push(msg);
      if (msg === "job failed, retrying" && job !== undefined) failedJobs.push(job);
      if (messages.at(-1) === readyAt) resolve();
    });
  });
  await Promise.race([
    ready,
    exited.then(() => Promise.reject(new Error(`ended: ${messages.join(", ")}`))),
  ]);
  return { messages, failedJobs, exited };
}

const late = (ms: number) => new Promise<"late">((resolve) => setTimeout(resolve, ms, "late"));

describe("a role whose database vanishes without a word", () => {
  it.each(["projector", "jobs"])("ends, so that it is started again: %s", async (role) => {
    const { messages, exited } = await start(role, {});
    proxy.silence();
    expect(await Promise.race([exited, late(30_000)])).toBe(1);
    expect(messages).toContain("process failed");
  });
});

const logger = pino({ level: "silent" });

describe("an indexer whose database vanishes without a word", () => {
  it("gives up what it asked, and asks again", async () => {
    const { failedJobs } = await start("indexer", {}, "RPC check failed");
    proxy.silence();
    await expect.poll(() => failedJobs, { timeout: 60_000 }).toContain("indexers");
  });

  it("notices that its lock of a schema is lost, and lets go of it", async () => {
    const { signal } = new AbortController();
    const lock = await lockSchema(proxy.url, "ponder_silent", signal, logger);
    proxy.silence();
    expect(await Promise.race([lock.lost, late(30_000)])).toBeUndefined();
    expect(await Promise.race([lock.release(), late(10_000)])).toBeUndefined();
  });

  it("does not wait without end for a lock that it asks for", async () => {
    proxy.silence();
    const { signal } = new AbortController();
    const asked = lockSchema(proxy.url, "ponder_silent", signal, logger);
    await expect(Promise.race([asked, late(30_000)])).rejects.toThrow(/timeout/);
  });
});
