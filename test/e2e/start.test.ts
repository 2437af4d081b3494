import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChainId, chainIds } from "../../abis/deployments.ts";
import { type OrphanGuard, startOrphanGuard } from "../../api/run/supervisor/orphan-guard.ts";
import { type Database, openDatabase } from "../../projections/database.ts";
import { kindList } from "../../projections/log/fact-kind-sql.ts";
import { dumpFacts } from "../support/chain/chain-replay.ts";
import { getJson, until } from "../support/database/pipeline.ts";
import { descendantsOf, watchProcesses } from "../support/database/processes.ts";
import { type ListingFill, readListingFills } from "../support/orders/listing-fills.ts";
import {
  readInstallation,
  type StartedService,
  startService,
} from "../support/processes/start-service.ts";

const stopWithinMs = 10_000;
/** Without trading, so that nothing changes between two readings. */
const start = (...args: string[]) =>
  startService({ dataDir: directory, orphanGuard, args, settings: { DEVNET_MARKET: "off" } });

let directory: string;
let orphanGuard: OrphanGuard;
let service: StartedService;

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

const installation = () => readInstallation(directory);

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
