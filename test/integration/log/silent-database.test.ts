import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";
import { type SilentProxy, startSilentProxy } from "../../support/database/silent-proxy.ts";

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

/** Starts a role as a service manager does, and waits until it works. */
async function start(
  role: string,
  more: Record<string, string> = {},
): Promise<{ messages: string[]; exited: Promise<number | null> }> {
  const started = spawn(process.execPath, [inject("programs").service, "--only", role], {
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
  const exited = new Promise<number | null>((resolve) => started.once("exit", resolve));
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: started.stdout }).on("line", (line) => {
      messages.push((JSON.parse(line) as { msg: string }).msg);
      if (messages.at(-1) === "process ready") resolve();
    });
  });
  await Promise.race([
    ready,
    exited.then(() => Promise.reject(new Error(`ended: ${messages.join(", ")}`))),
  ]);
  return { messages, exited };
}

const late = (ms: number) => new Promise<"late">((resolve) => setTimeout(resolve, ms, "late"));

describe("a role whose database vanishes without a word", () => {
  it.each([
    { role: "projector", others: false },
    { role: "jobs", others: false },
    { role: "jobs", others: true },
  ])("ends, so that it is started again: $role, other databases: $others", async (one) => {
    const { messages, exited } = await start(one.role, {
      ...(one.others && { DATABASE_URL_33139: other.url }),
    });
    proxy.silence();
    expect(await Promise.race([exited, late(30_000)])).toBe(1);
    expect(messages).toContain("process failed");
  });
});
