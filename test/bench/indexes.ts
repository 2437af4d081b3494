import { sql } from "kysely";
import { targetOf } from "#projections/engine/checkpoint.ts";
import type { Database } from "#projections/log/database.ts";
import { projectionIn, schemaOf } from "#projections/log/versions.ts";
import { project } from "../support/database/given.ts";
import { processorMsOf } from "../support/database/projector-connection.ts";
import { appendRange, makeEvents } from "./facts.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { openRouteClient } from "./market/client.ts";
import { withMarket } from "./market/data.ts";
import { hotLists, readSample } from "./market/lists.ts";
import { projections } from "./server.ts";

const REQUESTS = 60;
/** Mixed facts that are appended and applied. */
const MORE_FACTS = 2_000;
const MILLION = 1_000_000;

/** Megabytes per million facts from which an index has a row of its own. */
const LARGE_MB = 2;

/** Of indexes that neither the most used lists nor plain facts read, as their queries say. */
const otherReaders: Readonly<Record<string, string>> = {
  "log.fact_identity": "appending observations: each once",
  "log.transaction_hash": "a transaction, search",
  "log.fact_observation": "blocks that are retracted",
  "sales.sale_currency": "sales of a chain in a currency",
  "sales.sale_id": "a sale, search",
  "sales.sale_buyer": "sales of a wallet",
  "sales.sale_seller": "sales of a wallet",
  "sales.sale_marketplace": "sales of a chain on a marketplace or exchange",
  "sales.sale_contract": "sales of a collection, in large tables",
  "sales.sale_token_id": "sales of a token id",
  "listings.listing_maker_chain_id_status_created_at_position_idx": "a maker's listings by time",
  "listings.listing_maker_chain_id_status_unit_price_wei_position_idx":
    "a maker's listings by price",
  "listings.listing_chain_id_marketplace_status_created_at_position_idx":
    "listings of a chain by time",
  "listings.listing_chain_id_marketplace_status_unit_price_wei_position_idx":
    "listings of a chain by price",
  "metadata.token_name": "search",
  "metadata.token_chain_id_due_at_idx": "metadata that is due",
  "ownership.holder_pkey": "the key of its rows, holders",
  "collection_stats.token_pkey": "the key of its rows",
};

type Index = { schema: string; name: string; definition: string; bytes: number; scans: number };
type Cost = Index & { buildMs: number; lists: string[]; isReadByWrites: boolean };

/**
 * Each index of the log and of the projections: its size, the processor time of building it, both per million facts of
 * the market, which of the most used lists read it, and whether appending and applying facts does. Prints a table for
 * docs/benchmarks.md.
 */
export async function run(options: { scale: number; directory: string | null }): Promise<Figure[]> {
  return await withMarket(options, async (db, url) => {
    const facts = await countFacts(db);
    const lists = await readByLists(db, url);
    const isReadByWrites = await readByWrites(db);
    const costs: Cost[] = [];
    for (const index of await readIndexes(db)) {
      const buildMs = await measureBuild(db, index);
      const key = keyOf(index);
      costs.push({
        ...index,
        buildMs,
        lists: lists.get(key) ?? [],
        isReadByWrites: isReadByWrites.has(key),
      });
    }
    for (const line of tableOf(costs, facts)) process.stdout.write(`${line}\n`);
    return totalsOf(costs, facts);
  });
}

const keyOf = ({ schema, name }: Index): string => `${projectionIn(schema)}.${name}`;

async function countFacts(db: Database): Promise<number> {
  const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(db);
  return Number(rows[0]?.position ?? 0n);
}

async function readIndexes(db: Database): Promise<Index[]> {
  const schemas = ["log", ...projections.map(({ name }) => schemaOf(name))];
  const { rows } = await sql<Index>`
    select schemaname as schema, regexp_replace(indexrelname, '^(fact_.*)_0$', '\\1') as name, pg_get_indexdef(indexrelid) as definition,
           pg_relation_size(indexrelid)::float8 as bytes, idx_scan::float8 as scans
    from pg_stat_user_indexes where schemaname = any (${schemas}::text[])
    order by schemaname = 'log' desc, schemaname, pg_relation_size(indexrelid) desc`.execute(db);
  return rows;
}

/** Indexes that were scanned while `work` was done; a closed connection has told its scans. */
async function scannedBy(db: Database, work: () => Promise<unknown>): Promise<Set<string>> {
  const before = new Map((await readIndexes(db)).map((one) => [keyOf(one), one.scans]));
  await work();
  const after = await readIndexes(db);
  return new Set(after.filter((one) => one.scans > (before.get(keyOf(one)) ?? 0)).map(keyOf));
}

/** Names of the lists that scan each index. */
async function readByLists(db: Database, url: string): Promise<Map<string, string[]>> {
  const lists = new Map<string, string[]>();
  for (const { name, next } of hotLists(await readSample(db))) {
    const scanned = await scannedBy(db, async () => {
      const client = openRouteClient(url);
      try {
        for (let turn = 0; turn < REQUESTS; turn += 1) await client.call(next());
      } finally {
        await client.close();
      }
    });
    for (const index of scanned) lists.set(index, [...(lists.get(index) ?? []), name]);
  }
  return lists;
}

async function readByWrites(db: Database): Promise<Set<string>> {
  const targets = projections.map(targetOf);
  await makeEvents(db, { facts: MORE_FACTS, factsInBlock: 200 });
  return await scannedBy(db, async () => {
    await appendRange(db, 0, MORE_FACTS, 200);
    await project(db, targets);
    await sql`select pg_stat_force_next_flush()`.execute(db);
  });
}

/** Milliseconds of the server's processor time for building an index like it, which is dropped again. */
async function measureBuild(db: Database, { definition, schema }: Index): Promise<number> {
  return await db.transaction().execute(async (session) => {
    await sql`
      select set_config('max_parallel_maintenance_workers', '0', true),
             set_config('maintenance_work_mem', '256MB', true)`.execute(session);
    const copy = definition.replace(/INDEX \S+ ON/, `INDEX bench_copy ON`);
    const before = await processorMsOf(session);
    await sql.raw(copy).execute(session);
    const after = await processorMsOf(session);
    await sql`drop index ${sql.id(schema, "bench_copy")}`.execute(session);
    return after - before;
  });
}

/** Rows for the indexes that take most, and one for all others. */
function tableOf(costs: readonly Cost[], facts: number): string[] {
  const perMillion = MILLION / facts;
  const row = (cells: readonly string[], some: readonly Cost[]) => {
    const sum = (of: (one: Cost) => number) => some.reduce((total, one) => total + of(one), 0);
    const megabytes = ((sum(({ bytes }) => bytes) / 1e6) * perMillion).toFixed(1);
    const seconds = ((sum(({ buildMs }) => buildMs) / 1000) * perMillion).toFixed(2);
    const [index = "", columns = "", readBy = ""] = cells;
    return `| ${[index, columns, megabytes, seconds, readBy].join(" | ")} |`;
  };
  const isLarge = ({ bytes }: Cost) => (bytes / 1e6) * perMillion >= LARGE_MB;
  const large = costs.filter(isLarge);
  const small = costs.filter((one) => !isLarge(one));
  return [
    "| index | columns | MB | CPU s | read by |",
    "|---|---|---|---|---|",
    ...large.map((one) => row([keyOf(one), columnsOf(one), readersOf(one)], [one])),
    row([`${small.length} others`], small),
  ];
}

const columnsOf = ({ definition }: Index): string => {
  const [, columns = ""] =
    /USING \w+ \((.*?)\)(?: WITH .*?)?(?: WHERE .*)?$/.exec(definition) ?? [];
  return `${columns}${definition.includes(" WHERE ") ? "; partial" : ""}`;
};

/** What was seen to read it, lists without their variants, and in parentheses what else does. */
function readersOf(one: Cost): string {
  const lists = one.lists.map((list) => list.replace(/( by|,| of a| of the| with| of 100).*$/, ""));
  const seen = [...new Set(lists), ...(one.isReadByWrites ? ["writes"] : [])];
  const others = otherReaders[keyOf(one)];
  return [...seen, ...(others === undefined ? [] : [`(${others})`])].join(", ") || "nobody";
}

function totalsOf(costs: readonly Cost[], facts: number): Figure[] {
  const size = `${facts} facts of the market`;
  return [...new Set(costs.map(({ schema }) => schema))].flatMap((schema) => {
    const own = costs.filter((one) => one.schema === schema);
    const total = (of: (one: Cost) => number) => own.reduce((sum, one) => sum + of(one), 0);
    const [bytes, ms] = [total((one) => one.bytes), total((one) => one.buildMs)];
    return [
      medianFigure(`indexes of ${schema}, a fact`, [bytes / facts], { unit: "B" }, size),
      medianFigure(
        `indexes of ${schema}, processor time of building them, a million facts`,
        [(ms * MILLION) / facts],
        { unit: "ms" },
        size,
      ),
    ];
  });
}
