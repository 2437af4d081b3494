import { sql } from "kysely";
import type { Address } from "viem";
import { startOrphanGuard } from "../../api/run/supervisor/orphan-guard.ts";
import type { Database } from "../../projections/database.ts";
import { pipelineSettings } from "../support/database/pipeline.ts";
import type { Figure } from "./figure.ts";
import { chainId } from "./market-collections.ts";
import { withMarket } from "./market-data.ts";
import { makePonderTables } from "./market-graphql-tables.ts";
import { readSample } from "./market-lists.ts";
import { holdContest, withLoader } from "./ponder-contest.ts";
import { contestOf, type Servers } from "./ponder-lists.ts";
import { findPostmaster } from "./ponder-processor.ts";
import { whileServing } from "./ponder-serving.ts";

type Options = { scale: number; directory: string | null };

/** Collections that are asked for in turn. */
type Group = { name: string; collections: readonly Address[] };

const schema = "bench_graphql";
const lists = ["sales", "tokens", "listings"] as const;
const seconds = 2;
/** Collections of a size that are asked for at most. */
const OF_A_SIZE = 20;
/** No chain is asked by what is measured. */
const NOWHERE = "http://127.0.0.1:9";

/** The market's hot lists over HTTP: of our API, and of Ponder's GraphQL over its own tables of the same rows. */
export async function run({ scale, directory }: Options): Promise<Figure[]> {
  const orphanGuard = startOrphanGuard();
  try {
    return await withMarket({ scale, directory }, async (db, databaseUrl) => {
      const postmaster = await findPostmaster(db);
      await makePonderTables({ db, schema, databaseUrl, orphanGuard, postmaster });
      const chains = [{ chainId, rpcUrl: NOWHERE }];
      const settings = await pipelineSettings({ databaseUrl, chains });
      const groups = await readGroups(db);
      const serving = { schema, rpcUrl: NOWHERE, settings, orphanGuard, postmaster };
      return await whileServing(serving, (servers) => compare(servers, groups));
    });
  } finally {
    orphanGuard.killAll();
  }
}

async function compare(servers: Servers, groups: readonly Group[]): Promise<Figure[]> {
  const { postmaster } = servers;
  return await withLoader(async (loader) => {
    const figures: Figure[] = [];
    for (const [place, { name, collections }] of groups.entries()) {
      for (const list of lists) {
        const contest = contestOf(list, servers, collections);
        const terms = { seconds, isKeptToo: place === 0 };
        const named = { ...contest, name: `${list} of ${name}` };
        figures.push(...(await holdContest(named, { loader, postmaster }, terms)));
      }
    }
    return figures;
  });
}

/** Collections by size, then all of them as often as they are traded. */
async function readGroups(db: Database): Promise<Group[]> {
  const bySize = await Promise.all([100_000, 10_000, 1_000].map((tokens) => readSized(db, tokens)));
  const { collections } = await readSample(db);
  const traded = collections.map(({ address }) => address as Address);
  const groups = [...bySize, { name: "collections as they are traded", collections: traded }];
  return groups.filter((group) => group.collections.length > 0);
}

/** Some with about so many tokens; of a small market there may be none. */
async function readSized(db: Database, tokens: number): Promise<Group> {
  const { rows } = await sql<{ address: Address }>`
    select '0x' || encode(address, 'hex') as address from bench.collection
    where tokens between 0.9 * ${tokens}::int and 1.1 * ${tokens}::int
    order by number limit ${OF_A_SIZE}`.execute(db);
  const name = `collections of ${tokens} tokens`;
  return { name, collections: rows.map(({ address }) => address) };
}
