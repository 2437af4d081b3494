import { once } from "node:events";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import { seedMarket } from "#devnet/market/seed.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
import { dumpFacts, replayChain } from "../support/chain/chain-replay.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import {
  pipelineSettings,
  startPipeline,
  until,
  untilReady,
} from "../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { runOp, startOp } from "../support/processes/op.ts";

let market: Market;
let head: number;
/** What the chain holds, read past everything that is tested. */
let replayed: TestDatabase;

beforeAll(async () => {
  market = await openMarket({ chainId: 33139 });
  await seedMarket(market.client, { chainId: 33139, seed: 71 });
  head = Number(await market.client.getBlockNumber());
  replayed = await createDatabase();
  await replayChain(replayed.db, market.client, 33139);
  await market.client.mine({ blocks: 1 });
});

afterAll(async () => {
  await replayed?.drop();
  await market?.stop();
});

type Settings = Record<string, string>;

async function settingsOf(database: TestDatabase, more: Settings = {}): Promise<Settings> {
  return pipelineSettings({
    databaseUrl: database.url,
    chains: [market.anvil],
    settings: { FINALITY_33139: "1", ...more },
  });
}

async function operate(settings: Settings, ...words: string[]) {
  const { code, stdout, stderr } = await runOp(settings, ...words);
  return { code, out: stdout, shown: stderr };
}

async function withDatabase(work: (database: TestDatabase) => Promise<void>): Promise<void> {
  const database = await createDatabase();
  try {
    await work(database);
  } finally {
    await database.drop();
  }
}

/** Has a program take its error output for a terminal. */
const onTerminal = {
  NODE_OPTIONS:
    "--import=data:text/javascript,process.stderr.isTTY=true;process.stderr.columns=160",
};

const everything = () => ["backfill", "--chain", "33139", "--from", "0", "--to", `${head}`];

describe("op backfill", () => {
  it("appends what the chain holds, and nothing when it is done again", async () => {
    await withDatabase(async (database) => {
      const settings = await settingsOf(database);
      const first = await operate(settings, ...everything(), "--json");
      const again = await operate(settings, ...everything());

      const facts = await dumpFacts(replayed.db);
      expect(JSON.parse(first.out).backfill).toMatchObject({ to: head, appended: facts.length });
      expect(await dumpFacts(database.db)).toEqual(facts);
      expect(again).toMatchObject({ code: 0 });
      expect(again.out).toContain("0 facts appended");
    });
  });

  it("appends the transfers of one collection alone", async () => {
    await withDatabase(async (database) => {
      const settings = await settingsOf(database);
      const only = ["--collection", contracts.punks.toUpperCase().replace("0X", "0x")];
      await operate(settings, ...everything(), ...only);

      const { rows } = await sql<{ address: string; kinds: number[] }>`
        select k.address, array_agg(distinct f.kind order by f.kind) as kinds
        from log.fact f join log.contract k using (contract_id) group by k.address`.execute(
        database.db,
      );
      expect(rows).toEqual([{ address: contracts.punks, kinds: [10] }]);
    });
  });

  it("goes on where a kill cut it off", async () => {
    await withDatabase(async (database) => {
      const settings = await settingsOf(database, { LOGS_BLOCK_RANGE_33139: "2" });
      const child = startOp(settings, everything());
      const ended = once(child, "close");
      const reached = await until("some of it to be appended", async () => {
        const { rows } = await sql<{ next: bigint }>`
          select next_number as next from ops.audit where next_number >= 20`.execute(database.db);
        return rows[0]?.next;
      });
      child.kill("SIGKILL");
      await ended;
      const left = await sql<{ next: bigint }>`select next_number as next from ops.audit`.execute(
        database.db,
      );
      expect(left.rows[0]?.next).toBeGreaterThanOrEqual(reached);

      expect(await operate(settings, ...everything())).toMatchObject({ code: 0 });
      expect(await dumpFacts(database.db)).toEqual(await dumpFacts(replayed.db));
    });
  });

  it("tells usage apart from failure", async () => {
    await withDatabase(async (database) => {
      const settings = await settingsOf(database);
      expect(await operate(settings, "backfill", "--chain", "33139", "--from", "x")).toMatchObject({
        code: 2,
      });
    });
  });
});

describe("op reindex", () => {
  it("indexes anew beside what serves, moves over, and adds no fact", async () => {
    await withDatabase(async (database) => {
      const settings = await settingsOf(database);
      await market.client.setIntervalMining({ interval: 1 });
      const pipeline = await startPipeline({
        databaseUrl: database.url,
        chains: [market.anvil],
        settings,
      });
      try {
        await untilReady(pipeline);
        const before = await readIndexer(database);
        const { code, out, shown } = await operate(
          { ...settings, ...onTerminal },
          ...["reindex", "--chain", "33139", "--json"],
        );
        const after = await until("the recorder to have moved over", async () => {
          const now = await readIndexer(database);
          return now.settled !== null && now.schema !== before.schema && now;
        });

        expect(code).toBe(0);
        expect(shown).toMatch(/indexing chain 33139 core: \[[█░]+\] \d+ of \d+ blocks \(\d+ %\)/);
        expect(JSON.parse(out).indexers[0].schema).toBe(after.schema);
        await untilReady(pipeline);
        expect(after.facts).toBe(before.facts);
      } finally {
        await pipeline.stop();
        await market.client.setIntervalMining({ interval: 0 });
      }
    });
  });
});

/** Where the recorder reads, what it holds for settled there, and how many facts there are of events. */
async function readIndexer({ db }: TestDatabase) {
  const { rows } = await sql<{ schema: string; settled: string | null; facts: number }>`
    select i.ponder_schema as schema,
           (select settled_id from ops.recorder r where r.ponder_schema = i.ponder_schema) as settled,
           (select count(*)::integer from log.fact where log_index is not null or kind in ${kindList("block_retracted", "block_readopted")}) as facts
    from ops.indexer i`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("nothing is indexed");
  return row;
}
