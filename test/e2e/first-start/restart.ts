import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChainId, chainIds } from "#chains/index.ts";
import { configurationExitCode } from "#ops/config/read-config.ts";
import { findFreePort } from "#ops/free-port.ts";
import type { OrphanGuard } from "#ops/processes/child.ts";
import { launch } from "#ops/programs.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
import { dumpFacts } from "#test/support/chain/chain-replay.ts";
import { getJson, until } from "#test/support/database/pipeline.ts";
import { descendantsOf, watchProcesses } from "#test/support/database/processes.ts";
import { type ListingFill, readListingFills } from "#test/support/orders/listing-fills.ts";
import {
  readInstallation,
  type StartedService,
  startService,
} from "#test/support/processes/start-service.ts";

const stopWithinMs = 10_000;

type Installed = { dataDir: string; orphanGuard: OrphanGuard };

let service: StartedService;

/** Defines the tests of the first service's end and of a start after it, without trading, so that nothing changes. */
export function describeRestart(installed: () => Installed, first: () => StartedService): void {
  const start = (...args: string[]) =>
    startService({ ...installed(), args, settings: { DEVNET_MARKET: "off" } });
  const installation = () => readInstallation(installed().dataDir);
  let before: Awaited<ReturnType<typeof readLog>>;

  describe("a restart", () => {
    beforeAll(async () => {
      before = await withDatabase(installation(), readLog);
      await expectCleanStop(first());
      service = await start();
    });

    afterAll(() => service?.end());

    it.each(chainIds)("shows the trades of chain %i as in its receipts", async (chainId) => {
      const rpcUrl = installation()[`RPC_URL_${chainId}`] ?? "";
      const fills = await readListingFills(rpcUrl, chainId);
      expect(fills.length).toBeGreaterThan(20);
      // The last trades may have been mined after the first service stopped to record them.
      const sales = await until("every trade", async () => {
        const found = new Set((await allSales(chainId)).map(({ txHash }) => txHash));
        return fills.every(({ txHash }) => found.has(txHash)) && (await allSales(chainId));
      });
      for (const fill of fills) {
        const sold = sales.filter(
          ({ txHash, orderHash }) => txHash === fill.txHash && orderHash === fill.orderHash,
        );
        expect(sold.map(tradeOf)).toEqual([fill]);
      }
    });

    it("lets other roles connect and leave, and still announces its address to later ones", async () => {
      const known = installation();
      const joined = await start("--only", "api,projector");
      expect((await getJson(joined.baseUrl, "/v1/sales?chainId=1")).status).toBe(200);
      await joined.end();
      expect(installation()).toEqual(known);
    });

    it("lets no other service into its directory, nor its chains be started twice", async () => {
      const { dataDir } = installed();
      const env = { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: `${await findFreePort()}` };
      const refused = await promisify(execFile)(process.execPath, launch("service"), {
        env: { ...env, OPERATOR_CONSOLE: "off", LOG_FORMAT: "json" },
      }).catch((error: unknown) => error);
      expect(refused).toMatchObject({
        code: configurationExitCode,
        stderr: expect.stringContaining("expected a directory that no other process uses"),
        stdout: expect.not.stringContaining("starting local chains"),
      });
    });

    it("loses no fact and appends none twice, and leaves no process when it ends", async () => {
      const after = await withDatabase(installation(), readLog);
      expect(before.facts.length).toBeGreaterThan(0);
      expect(new Set(after.facts)).toEqual(new Set([...before.facts, ...after.facts]));
      expect(after.distinct).toBe(after.facts.length);
      expect(after.blockStates).toBe(0);
      await expectCleanStop(service);
    });
  });
}

async function expectCleanStop(service: StartedService): Promise<void> {
  const left = watchProcesses(descendantsOf(service.pid));
  expect(left().length).toBeGreaterThan(8);
  const signaledAt = performance.now();
  process.kill(service.pid, "SIGTERM");
  expect(await service.exited).toBe(0);
  const stoppedMs = Math.round(performance.now() - signaledAt);
  expect(stoppedMs, `stopped after ${stoppedMs} ms`).toBeLessThan(stopWithinMs);
  await until("the end of every process", async () => left().length === 0, 1_000).catch(() => {});
  expect(left()).toEqual([]);
}

async function withDatabase<Result>(
  { DATABASE_URL: url = "" }: Record<string, string>,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
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
