import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, test, vi } from "vitest";
import { erc721Abi } from "#abis/tokens.ts";
import { ponderSettings, startPonder } from "./ponder-process.ts";

/** Of Node: V8 compiles and collects in four of them, from its start. */
const leastThreads = 5;

const databaseUrl = "postgres://127.0.0.1:1/none";
const served = {
  addressFor: () => ({ rpcUrl: "http://127.0.0.1:1", wsUrl: "ws://127.0.0.1:1" }),
};

const isLinux = process.platform === "linux";

test.runIf(isLinux)("in the background, all threads of Ponder have a low priority", async () => {
  const settings = ponderSettings({ sources: { chainId: 1, sources: [] }, databaseUrl }, served);
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

test("Ponder starts with the addresses of 5,000 collections", async () => {
  const addresses = Array.from({ length: 5_000 }, (_, nth) => `0x${`${nth}`.padStart(40, "0")}`);
  const [transfer] = erc721Abi.filter(({ type }) => type === "event");
  const source = { events: [transfer], firstBlock: 1, eventsWithCall: [], addresses };
  const names = ["Erc721", "Erc1155"] as const;
  const sources = names.map((name) => ({ ...source, name }) as never);
  const settings = ponderSettings({ sources: { chainId: 1, sources }, databaseUrl }, served);
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
