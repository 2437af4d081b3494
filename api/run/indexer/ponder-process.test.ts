import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, test, vi } from "vitest";
import { erc721Abi } from "../../../abis/tokens.ts";
import { launch } from "../programs/program.ts";
import { preload, startPonder } from "./ponder-process.ts";
import { ponderSettings } from "./ponder-settings.ts";
import { ponderVersion } from "./schema-name.ts";

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

test("Ponder's program is the installed release", () => {
  const version = execFileSync(process.execPath, launch("ponder", "--version"), {
    encoding: "utf8",
  });
  expect(version.trim()).toBe(ponderVersion());
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

test("Ponder starts with the addresses of 5,000 collections", async () => {
  const addresses = Array.from({ length: 5_000 }, (_, nth) => `0x${`${nth}`.padStart(40, "0")}`);
  const [transfer] = erc721Abi.filter(({ type }) => type === "event");
  const source = { events: [transfer], firstBlock: 1, eventsWithCall: [], addresses };
  const names = ["Erc721", "Erc1155"] as const;
  const chain = { logsBlockRange: null } as never;
  const settings = ponderSettings(
    {
      ...{ chain, databaseUrl: "postgres://127.0.0.1:1/none" },
      sources: { chainId: 1, sources: names.map((name) => ({ ...source, name }) as never) },
    },
    { rpcUrls: ["http://127.0.0.1:1"], wsUrl: null } as never,
  );
  const lines: string[] = [];
  const ponder = startPonder({
    ...{ schema: "none", port: 42_069, settings },
    onLine: (line) => lines.push(line),
  });
  try {
    // It has read its configuration when it asks its database.
    const connects = () => expect(lines.join("\n")).toContain("database_diagnostic");
    await vi.waitFor(connects, { timeout: 25_000 });
  } finally {
    ponder.kill();
    await ponder.exited;
  }
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
