import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type EmbeddedPostgres, startPostgres } from "#ops/postgres/embedded.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { makeServerDirectory } from "#test/support/database/server-directory.ts";

let dataDir: string;
let server: EmbeddedPostgres | undefined;
let messages: string[];
beforeEach(async () => {
  dataDir = await makeServerDirectory();
  messages = [];
  await (await start()).stop();
});
afterEach(async () => {
  vi.useRealTimers();
  await server?.stop();
  server = undefined;
  await rm(dataDir, { recursive: true, force: true });
});

const orphanGuard = startOrphanGuard();
const write = (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg);

const start = (settings: Record<string, string> = {}, signal?: AbortSignal) =>
  startPostgres({
    ...{ dataDir, durable: false, replicates: true, settings, logger: pino({}, { write }) },
    onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
    ...(signal && { signal }),
  });

/** The next start looks for a part of its log, which takes so long, and then goes on without. */
async function recoverSlowly(seconds: number): Promise<Record<string, string>> {
  await writeFile(join(dataDir, "postgres/recovery.signal"), "");
  return { restore_command: `sleep ${seconds}; false`, recovery_target_timeline: "current" };
}

const isWaiting = () =>
  expect
    .poll(() => messages, { timeout: 60_000 })
    .toContainEqual(expect.stringContaining("waiting for PostgreSQL"));

describe("a recovery of the embedded server", () => {
  it("may take longer than any limit", async () => {
    const starting = start(await recoverSlowly(15));
    starting.catch(() => {});
    await isWaiting();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });

    server = await starting;
  });

  it("ends at once when the service is to stop, and the next one is not hindered", async () => {
    const stopping = new AbortController();
    const starting = start(await recoverSlowly(60), stopping.signal);
    starting.catch(() => {});
    await isWaiting();
    const at = performance.now();
    stopping.abort(new Error("stopping"));

    await expect(starting).rejects.toThrow("stopping");
    expect(performance.now() - at).toBeLessThan(7_000);
    await rm(join(dataDir, "postgres/recovery.signal"), { force: true });
    server = await start();
    await expect(start()).rejects.toThrow("in use by process");
  });
});
