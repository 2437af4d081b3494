import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseEventLogs } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { seaportAddresses } from "../abis/deployments.ts";
import { seaportEvents } from "../abis/seaport.ts";
import type { ChainId } from "../chains/index.ts";
import { launch } from "../ops/programs.ts";
import { connect, type DevnetClient } from "./client.ts";

type Ready = {
  ready: true;
  chains: Record<ChainId, { rpcUrl: string; wsUrl: string; pid: number }>;
  partners: Record<"opensea" | "magiceden", { port: number; url: string }>;
};

let dataDir: string;
const started: ChildProcess[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "devnet-"));
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});
afterAll(() => rm(dataDir, { recursive: true }));

function spawnDevnet(...flags: string[]): ChildProcess {
  const args = launch("devnet", ...flags);
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
  started.push(child);
  return child;
}

async function readReady(child: ChildProcess): Promise<Ready> {
  if (child.stdout === null) throw new Error("The child's output is not piped");
  for await (const text of createInterface({ input: child.stdout })) {
    const line: Ready | { progress: string } = JSON.parse(text);
    if ("ready" in line) return line;
  }
  throw new Error("The local chains ended before they were ready");
}

const clientOf = ({ chains }: Ready, chainId: ChainId) =>
  connect({ chainId, rpcUrl: chains[chainId].rpcUrl });

describe("the local chains", () => {
  it("trade on after their history, outlive a node's death, and stop at SIGTERM", async () => {
    const child = spawnDevnet("--data-dir", dataDir, "--market", "on");
    const ready = await readReady(child);
    const [ethereum, apeChain] = [clientOf(ready, 1), clientOf(ready, 33139)];
    const heads = await Promise.all([ethereum.getBlockNumber(), apeChain.getBlockNumber()]);

    process.kill(ready.chains[1].pid, "SIGKILL");

    const laterHeads = () =>
      ethereum.getBlockNumber().then(
        (head) => head > heads[0],
        () => false,
      );
    await expect.poll(laterHeads, { timeout: 120_000, interval: 100 }).toBe(true);
    const fillsSince = () => countFills(apeChain, heads[1] + 1n);
    await expect.poll(fillsSince, { timeout: 120_000, interval: 250 }).toBeGreaterThan(0);
    const shownOf =
      ({ port }: { port: number }) =>
      () =>
        countShown(port);
    for (const partner of Object.values(ready.partners))
      await expect.poll(shownOf(partner), { timeout: 120_000 }).toBeGreaterThan(0);
    const signaledAt = Date.now();
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(Date.now() - signaledAt).toBeLessThan(3_000);
  });

  it("come up again where they were, and end with standard input", async () => {
    const child = spawnDevnet("--data-dir", dataDir, "--market", "off");
    const ready = await readReady(child);
    const client = clientOf(ready, 33139);
    const keptFills = await countFills(client, 0n);

    const head = await client.getBlock();
    const shown = await countShown(ready.partners.opensea.port);
    child.stdin?.end();

    expect(await once(child, "exit")).toEqual([0, null]);
    expect(keptFills).toBeGreaterThan(40);
    expect(shown).toBe(0);
    expect(Math.abs(Date.now() / 1000 - Number(head.timestamp))).toBeLessThan(30);
    await expect(client.getBlockNumber()).rejects.toThrow();
  });

  it("write the curated set with a family as one row", async () => {
    const rows: { chainId: ChainId; slug: string; contracts: string[] }[] = JSON.parse(
      await readFile(join(dataDir, "devnet", "collections.json"), "utf8"),
    );

    const families = rows.filter((row) => row.contracts.length > 1);
    expect(families.map((row) => [row.chainId, row.slug])).toEqual([
      [1, "local-family"],
      [33139, "local-family"],
    ]);
  });

  it("say how they are started when the command line makes no sense", async () => {
    const child = spawnDevnet("--data-dir", dataDir, "--ports", "5:8545");
    const complaint: Buffer[] = [];
    child.stderr?.on("data", (chunk: Buffer) => complaint.push(chunk));

    const [code] = await once(child, "close");

    expect(code).toBe(2);
    expect(Buffer.concat(complaint).toString()).toContain("--ports 1:8545,33139:8546");
  });
});

/** Listings that a partner shows. */
async function countShown(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/_control`);
  const body = (await response.json()) as { listings: { active?: number } };
  return body.listings.active ?? 0;
}

async function countFills(client: DevnetClient, fromBlock: bigint): Promise<number> {
  const logs = await client.getLogs({ address: seaportAddresses["1.6"], fromBlock });
  return parseEventLogs({ abi: seaportEvents, eventName: "OrderFulfilled", logs }).length;
}
