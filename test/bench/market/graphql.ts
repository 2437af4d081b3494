import { setInterval } from "node:timers/promises";
import { sql } from "kysely";
import type { Address } from "viem";
import { chainById } from "#chains/index.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import type { Database } from "#projections/log/database.ts";
import { pipelineSettings } from "#test/support/database/pipeline.ts";
import type { Figure } from "../figure.ts";
import { compareServers, withLoader } from "../ponder/comparison.ts";
import { comparisonOf, facts, type Servers } from "../ponder/lists.ts";
import { findPostmaster } from "../ponder/processor.ts";
import { whileServing } from "../ponder/serving.ts";
import { chainId } from "./collections.ts";
import { withMarket } from "./data.ts";
import { createPonderTables } from "./graphql-tables.ts";
import { readSample } from "./lists.ts";

type Options = { scale: number; directory: string | null };

/** Collections requested in turn. */
type Group = { name: string; collections: readonly Address[] };

const schema = "bench_graphql";
const lists = ["sales", "tokens", "listings", "bids", "collections"] as const;
const seconds = 2;
const CHANGE_MS = 1_000;
const PRICE_CHANGE_S = 10;
/** Most collections per size. */
const OF_A_SIZE = 20;
/** No measured route calls a chain. */
const UNUSED_RPC_URL = "http://127.0.0.1:9";

/** The market's hot lists over HTTP: of our API, and of Ponder's GraphQL over its own tables of the same rows. */
export async function run({ scale, directory }: Options): Promise<Figure[]> {
  const orphanGuard = startOrphanGuard();
  try {
    return await withMarket({ scale, directory }, async (db, databaseUrl) => {
      const postmaster = await findPostmaster(db);
      await createPonderTables({ db, schema, databaseUrl, orphanGuard, postmaster });
      const chains = [{ chainId, rpcUrl: UNUSED_RPC_URL }];
      const settings = await pipelineSettings({ databaseUrl, chains });
      const groups = await readGroups(db);
      const serving = { schema, rpcUrl: UNUSED_RPC_URL, settings, orphanGuard, postmaster };
      return await whileServing(serving, (servers) =>
        whileChanging(db, () => compare(servers, groups)),
      );
    });
  } finally {
    orphanGuard.killAll();
  }
}

/**
 * Runs `work` while the data's version changes once a second, as with a block a second, and the coin's price, which
 * changes all prices in USD, every ten seconds: what is kept by them is made again. Prices come once a minute.
 */
async function whileChanging<Result>(db: Database, work: () => Promise<Result>): Promise<Result> {
  const ended = new AbortController();
  const changing = (async () => {
    let seconds = 0;
    for await (const _ of setInterval(CHANGE_MS, undefined, ended)) {
      if (seconds++ % PRICE_CHANGE_S === 0) await changePrice(db, seconds);
      await sql`update log.head set position = position`.execute(db);
    }
  })();
  try {
    return await work();
  } finally {
    ended.abort();
    await changing.catch(ignoreAbort);
  }
}

async function changePrice(db: Database, step: number): Promise<void> {
  const priceE8 = 100_000_000 + step * 1_000_000;
  await sql`
    insert into coin_prices.tick (coin, minute, price_e8)
    values (${chainById(chainId).coin}, date_trunc('minute', now()), ${priceE8})
    on conflict (coin, minute) do update set price_e8 = excluded.price_e8`.execute(db);
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error && error.name === "AbortError")) throw error;
}

async function compare(servers: Servers, groups: readonly Group[]): Promise<Figure[]> {
  const { postmaster } = servers;
  return await withLoader(async (loader) => {
    const figures: Figure[] = [];
    for (const [index, { name, collections }] of groups.entries()) {
      for (const list of lists) {
        for (const asked of facts) {
          const comparison = comparisonOf([list, asked], servers, collections);
          const terms = { seconds, measuresCached: index === 0 && asked === "small row" };
          const named = { ...comparison, name: `${list} of ${name}, ${asked}` };
          figures.push(...(await compareServers(named, { loader, postmaster }, terms)));
        }
      }
    }
    return figures;
  });
}

/** Collections by size, then a sample weighted by sales. */
async function readGroups(db: Database): Promise<Group[]> {
  const bySize = await Promise.all([100_000, 10_000, 1_000].map((tokens) => readSized(db, tokens)));
  const { collections } = await readSample(db);
  const traded = collections.map(({ address }) => address as Address);
  const groups = [...bySize, { name: "collections as they are traded", collections: traded }];
  return groups.filter((group) => group.collections.length > 0);
}

/** Collections with about `tokens` tokens; a small market may have none. */
async function readSized(db: Database, tokens: number): Promise<Group> {
  const { rows } = await sql<{ address: Address }>`
    select '0x' || encode(address, 'hex') as address from bench.collection
    where tokens between 0.9 * ${tokens}::int and 1.1 * ${tokens}::int
    order by number limit ${OF_A_SIZE}`.execute(db);
  const name = `collections of ${tokens} tokens`;
  return { name, collections: rows.map(({ address }) => address) };
}
