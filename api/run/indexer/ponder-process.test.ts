import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, test, vi } from "vitest";
import { preload, startPonder } from "./ponder-process.ts";

/** Of Node: V8 compiles and collects in four of them, from its start. */
const leastThreads = 5;

const isLinux = process.platform === "linux";

test.runIf(isLinux)("in the background, all threads of Ponder have a low priority", async () => {
  const settings = { DATABASE_URL: "postgres://127.0.0.1:1/none" };
  const ponder = startPonder({
    ...{ schema: "none", port: 42_069, settings, isBackground: true },
    onLine: () => {},
  });
  try {
    const threads = await vi.waitUntil(
      () => {
        const ids = readdirSync(`/proc/${ponder.pid}/task`).map(Number);
        return ids.length >= leastThreads ? ids : undefined;
      },
      { timeout: 60_000, interval: 10 },
    );
    const lower = Math.min(getPriority() + 19, 19);
    expect(threads.map((id) => getPriority(id))).toEqual(threads.map(() => lower));
  } finally {
    ponder.kill();
    await ponder.exited;
  }
});

/** Samples its event loop as Ponder's metrics do; prints how often it did within half a second. */
const sampling = `
import perfHooks from "node:perf_hooks";
const histogram = perfHooks.monitorEventLoopDelay({ resolution: 1 });
histogram.enable();
setTimeout(() => {
  console.log(histogram.count);
  process.exit();
}, 500);
`;

test("Ponder's metrics do not wake its process each millisecond", () => {
  const script = ["--input-type=module", "--eval", sampling];
  const samples = (...flags: string[]) =>
    Number(execFileSync(process.execPath, [...flags, ...script], { encoding: "utf8" }));
  expect(samples("--import", preload)).toBeLessThanOrEqual(1);
  expect(samples()).toBeGreaterThan(2);
});

test("a paused Ponder is stopped in order", async () => {
  const ponder = startPonder({
    ...{ schema: "none", port: 42_069, settings: {}, isBackground: true },
    onLine: () => {},
  });
  ponder.pause();
  await ponder.stop();
  ponder.pause();
  expect(await ponder.exited).toBe("SIGINT");
});
