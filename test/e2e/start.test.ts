import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChainId, chainIds } from "../../abis/deployments.ts";
import { type OrphanGuard, startOrphanGuard } from "../../api/run/supervisor/orphan-guard.ts";
import { type Database, openDatabase } from "../../projections/database.ts";
import { kindList } from "../../projections/log/fact-kind-sql.ts";
import { dumpFacts } from "../support/chain/chain-replay.ts";
import { freePort, getJson, until } from "../support/database/pipeline.ts";
import { descendantsOf, watchProcesses } from "../support/database/processes.ts";
import { type ListingFill, readListingFills } from "../support/orders/listing-fills.ts";

const root = resolve(import.meta.dirname, "../..");
const stopWithinMs = 10_000;

let directory: string;
let orphanGuard: OrphanGuard;
let service: Service;

beforeAll(async () => {
  orphanGuard = startOrphanGuard();
  directory = await mkdtemp(join(tmpdir(), "start-"));
  service = await start();
});

afterAll(async () => {
  await service?.end();
  orphanGuard.killAll();
  await rm(directory, { recursive: true, force: true });
});

describe("npm start in an empty directory", () => {
  it.each(chainIds)("shows the trades of chain %i as in its receipts", async (chainId) => {
    const rpcUrl = installation()[`RPC_URL_${chainId}`] ?? "";
    const fills = await readListingFills(rpcUrl, chainId);
    expect(fills.length).toBeGreaterThan(20);

    const sales = await allSales(chainId);
    for (const fill of fills) {
      const sold = sales.filter(
        ({ txHash, orderHash }) => txHash === fill.txHash && orderHash === fill.orderHash,
      );
      expect(sold.map(tradeOf)).toEqual([fill]);
    }
  });

  it("lets other roles connect and leave, and still announces its address to later ones", async () => {
    const before = installation();
    const joined = await start("--only", "api,projector");
    expect((await getJson(joined.baseUrl, "/v1/sales?chainId=1")).status).toBe(200);
    await joined.end();
    expect(installation()).toEqual(before);
  });

  it("appends no fact twice after a restart, and leaves no process either time", async () => {
    const before = await withDatabase(readLog);
    await expectCleanStop();

    service = await start();
    const after = await withDatabase(readLog);
    expect(after.facts).toEqual(before.facts);
    expect(after.distinct).toBe(after.facts.length);
    expect(after.blockStates).toBe(0);
    await expectCleanStop();
  });
});

type Service = {
  baseUrl: string;
  pid: number;
  /** Settles with the exit code. */
  exited: Promise<number | null>;
  end(): Promise<void>;
};

async function start(...options: string[]): Promise<Service> {
  const port = await freePort();
  const child = spawn(process.execPath, ["--import", "tsx", "api/main.ts", ...options], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: directory,
      PORT: `${port}`,
      DEVNET_MARKET: "off",
      RATE_LIMIT_KEYLESS: "0",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("npm start did not start");
  orphanGuard.add(pid, "SIGTERM");
  const exited = once(child, "exit").then(([code]: (number | null)[]) => {
    orphanGuard.remove(pid);
    return code ?? null;
  });
  const baseUrl = await readyLine(child);
  expect(baseUrl).toBe(`http://127.0.0.1:${port}`);
  const end = async () => {
    child.kill("SIGTERM");
    await exited;
  };
  return { baseUrl, pid, exited, end };
}

/** The address that `ready` names; throws with the last lines of a failed start. */
function readyLine(child: ChildProcess): Promise<string> {
  const output: string[] = [];
  return new Promise((onReady, onFailure) => {
    if (child.stdout === null) return onFailure(new Error("there is no output"));
    createInterface({ input: child.stdout }).on("line", (line) => {
      output.push(line);
      const url = /^ready (\S+)$/.exec(line)?.[1];
      if (url !== undefined) onReady(url);
    });
    child.once("exit", () => onFailure(new Error(output.slice(-20).join("\n"))));
  });
}

async function expectCleanStop(): Promise<void> {
  const left = watchProcesses(descendantsOf(service.pid));
  expect(left().length).toBeGreaterThan(8);
  const signaledAt = performance.now();
  process.kill(service.pid, "SIGTERM");
  expect(await service.exited).toBe(0);
  expect(performance.now() - signaledAt).toBeLessThan(stopWithinMs);
  await until("the end of every process", async () => left().length === 0, 1_000).catch(() => {});
  expect(left()).toEqual([]);
}

/** The addresses of the running service. */
function installation(): Record<string, string> {
  const content = JSON.parse(readFileSync(join(directory, "running.json"), "utf8"));
  return (content as { environment: Record<string, string> }).environment;
}

async function withDatabase<Result>(work: (db: Database) => Promise<Result>): Promise<Result> {
  const url = installation().DATABASE_URL ?? "";
  const db = openDatabase({ url, applicationName: "test", onIdleError: () => {} });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

async function readLog(db: Database) {
  const { rows } = await sql<{ distinct: bigint; blockStates: bigint }>`
    select count(distinct (b.chain_id, b.hash, f.log_index, f.sub_index)) filter (where f.log_index is not null)
             as distinct,
           count(*) filter (where f.kind in ${kindList("block_retracted", "block_readopted")}) as "blockStates"
    from log.fact f left join log.block b using (block_id)`.execute(db);
  const { distinct, blockStates } = rows[0] ?? {};
  const facts = await dumpFacts(db);
  return { facts, distinct: Number(distinct), blockStates: Number(blockStates) };
}

type Sale = ListingFill & { currency: { address: string } };

async function allSales(chainId: ChainId): Promise<Sale[]> {
  const sales: Sale[] = [];
  for (let page = 1; ; page += 1) {
    const path = `/v1/sales?chainId=${chainId}&per_page=100&page=${page}`;
    const { status, body } = await getJson(service.baseUrl, path);
    expect(status).toBe(200);
    const { data, meta } = body as { data: Sale[]; meta: { total: number } };
    sales.push(...data);
    if (sales.length >= meta.total || data.length === 0) return sales;
  }
}

/** A sale in the form of a fill. */
function tradeOf(sale: Sale): ListingFill {
  const { txHash, orderHash, contract, tokenId, quantity, priceWei, totalWei } = sale;
  const { seller, buyer, side, blockHash, blockNumber, logIndex, timestamp } = sale;
  return {
    ...{ txHash, orderHash, contract, tokenId, quantity, priceWei, totalWei },
    ...{ seller, buyer, side, blockHash, blockNumber, logIndex, timestamp },
    fees: sale.fees.map(({ recipient, wei }) => ({ recipient, wei })),
  };
}
