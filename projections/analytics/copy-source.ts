import type { Readable } from "node:stream";
import { sql } from "kysely";
import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import type { Database } from "../log/database.ts";
import { factKind } from "../log/fact-kinds.ts";
import { beginHolding, createLock, takeLock } from "../log/named-lock.ts";
import { inVersions, schemaOf } from "../log/versions.ts";
import {
  type CopiedColumn,
  copiedColumn,
  copiedProjections,
  type DataSet,
  dataSets,
  factColumns,
  factsFrom,
  valuesOf,
} from "./data-sets.ts";

/** The database that facts and rows are copied from, on one connection. */
export type CopySource = {
  /** In one snapshot: the positions of the projections, and all that `work` reads. */
  snapshot<Result>(work: (snapshot: CopySnapshot) => Promise<Result>): Promise<Result>;
  columnsOf(dataSet: DataSet): Promise<CopiedColumn[]>;
  factColumns(): Promise<CopiedColumn[]>;
  close(): Promise<void>;
};

/** A part of a data set: a block's id, an hour since 1970, or one of the parts of a digest. */
export type Part = bigint;
export type Digests = ReadonlyMap<Part, string>;

export type CopySnapshot = {
  /** The log's last position. */
  readonly head: bigint;
  /** The position of all projections that are read; null while they are at several. */
  readonly position: bigint | null;
  /** Numbers of the tables whose changes are known by facts: others after a rebuild. */
  tableIds(): Promise<Record<string, string>>;
  /** What the fact at a position says, to recognize another log; null where there is none. */
  factDigest(position: bigint): Promise<string | null>;
  /** Parts whose rows may differ between two positions. */
  changedParts(dataSet: DataSet, after: bigint, upTo: bigint): Promise<Part[]>;
  digests(dataSet: DataSet): Promise<Digests>;
  /** Rows as CSV: the columns' values, `beyond`, the part, and `number`. */
  copyRows(copied: Copied, parts: readonly Part[] | "all"): Readable;
  /** Facts with after < position ≤ upTo, the same way and without a part. */
  copyFacts(copied: Omit<Copied, "dataSet">, after: bigint, upTo: bigint): Readable;
};

type Copied = {
  dataSet: DataSet;
  columns: readonly CopiedColumn[];
  /** Ends each row. */
  number: bigint;
};

/** Of digests. With 0 a zero has the digest of a null. */
const SEED = 8_675_309;
/** Parts of a digest's data set. */
const PARTS = 4_096;

export async function openSource(url: string): Promise<CopySource> {
  const client = new pg.Client({ connectionString: url, application_name: "analytics sync" });
  client.on("error", () => {});
  await client.connect();
  await client.query("set timezone to 'UTC'; set datestyle to 'ISO'; set statement_timeout to 0");
  const describe = async (select: string, key: readonly string[]) => {
    const { fields } = await client.query(`select * from (${select}) q limit 0`);
    return fields.map(({ name, dataTypeID }) => copiedColumn(name, dataTypeID, key));
  };
  return {
    async snapshot(work) {
      await client.query("begin isolation level repeatable read read only");
      // Long reads, once each.
      await client.query("set local jit to off");
      // After a failure it may still be sending rows: the connection is closed then.
      const result = await work({ ...(await positionsOf(client)), ...readsOf(client) });
      await client.query("rollback");
      return result;
    },
    columnsOf: (dataSet) => describe(selectOf(dataSet), dataSet.key),
    factColumns: () => describe(`select ${listOf(factColumns)} from ${factsFrom}`, ["position"]),
    close: () => client.end(),
  };
}

type Positions = Pick<CopySnapshot, "head" | "position">;

async function positionsOf(client: pg.Client): Promise<Positions> {
  const { rows } = await client.query<Record<"head" | "least" | "most" | "found", string>>(
    `select (select position from log.head) as head,
            min(position) as least, max(position) as most, count(*) as found
     from engine.checkpoint where projection = any ($1)`,
    [copiedProjections.map(schemaOf)],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("an aggregate without a row");
  const areEqual = Number(row.found) === copiedProjections.length && row.least === row.most;
  return { head: BigInt(row.head), position: areEqual ? BigInt(row.least) : null };
}

function readsOf(client: pg.Client): Omit<CopySnapshot, keyof Positions> {
  const stream = (statement: string) => {
    const rows = client.query(copyTo(statement));
    // Whoever reads the rows hears of it; once he has stopped nobody does.
    return rows.on("error", () => {});
  };
  return {
    async tableIds() {
      const tables = dataSets.flatMap(({ table }) => (table === undefined ? [] : [table]));
      const { rows } = await client.query<{ name: string; id: string }>(
        "select name, to_regclass(held)::oid::text as id from unnest($1::text[], $2::text[]) t (name, held)",
        [tables, tables.map(inVersions)],
      );
      return Object.fromEntries(rows.map(({ name, id }) => [name, id]));
    },
    async factDigest(position) {
      const { rows } = await client.query<{ digest: string }>(
        "select md5(f::text) as digest from log.fact f where position = $1",
        [position],
      );
      return rows[0]?.digest ?? null;
    },
    async changedParts(dataSet, after, upTo) {
      const part =
        dataSet.changes === "blocks"
          ? "block_id as part from log.fact where block_id is not null"
          : `extract(epoch from recorded_at)::bigint / 3600 as part from log.fact where kind = ${factKind.price_ticked}`;
      const { rows } = await client.query<{ part: string }>(
        `select distinct ${part} and position > $1 and position <= $2`,
        [after, upTo],
      );
      return rows.map((row) => BigInt(row.part));
    },
    async digests(dataSet) {
      const { rows } = await client.query<{ part: number; digest: string }>(
        `select part, count(*) || ' ' || bit_xor(digest) as digest
         from (select q._part as part, hash_record_extended(q, ${SEED}) as digest from (${selectOf(dataSet)}) q) d
         group by part`,
      );
      return new Map(rows.map(({ part, digest }) => [BigInt(part), digest]));
    },
    copyRows: ({ dataSet, columns, number }, parts) => {
      const values = [...valuesOf(columns), "q._part", number];
      const where = parts === "all" ? "" : `where ${partOf(dataSet)} in (${parts.join(", ")})`;
      return stream(csv(`select ${values.join(", ")} from (${selectOf(dataSet, where)}) q`));
    },
    copyFacts: ({ columns, number }, after, upTo) => {
      const values = [...valuesOf(columns), number];
      const range = `f.position > ${after} and f.position <= ${upTo}`;
      return stream(
        csv(`select ${values.join(", ")}
             from (select ${listOf(factColumns)} from ${factsFrom} where ${range}) q`),
      );
    },
  };
}

const csv = (select: string) => `copy (${select}) to stdout (format csv, null '\\N')`;

const listOf = (columns: DataSet["columns"]) =>
  columns.map(([name, expression]) => `${expression} as "${name}"`).join(", ");

/** SQL of a row's part. */
function partOf({ part, key, columns }: DataSet): string {
  if (part !== undefined) return part;
  const values = key.map((name) => columns.find(([column]) => column === name)?.[1]);
  return `(hash_record_extended(row(${values.join(", ")}), 0) & ${PARTS - 1})::int`;
}

function selectOf(dataSet: DataSet, where = ""): string {
  const { columns, from } = dataSet;
  // A where clause of the data set's own goes on.
  const condition = /\swhere\s/.test(outside(from)) ? where.replace("where", "and") : where;
  return inVersions(
    `select ${listOf(columns)}, ${partOf(dataSet)} as _part from ${from} ${condition}`,
  );
}

/** The text outside of parentheses. */
function outside(text: string): string {
  let depth = 0;
  return [...text]
    .filter((character) => {
      if (character === ")") depth -= 1;
      const isOutside = depth === 0;
      if (character === "(") depth += 1;
      return isOutside;
    })
    .join("");
}

/** The copy's name in its table. */
const engine = "clickhouse";

/** How far the copy in ClickHouse is, as of its last sync. */
type CopyProgress = {
  position: bigint;
  syncedAt: Date | null;
  failedAt: Date | null;
  /** Of the last sync; null: it did not fail. */
  error: string | null;
  /** Facts of the log behind `position`. */
  behind: bigint;
};

/** Null: nothing was synced yet. */
export async function readCopyProgress(db: Database): Promise<CopyProgress | null> {
  const { rows } = await sql<CopyProgress>`
    select e.position, synced_at as "syncedAt", failed_at as "failedAt", error,
           greatest(0, h.position - e.position) as behind
    from ops.analytics_engine e, log.head h where engine = ${engine}`.execute(db);
  return rows[0] ?? null;
}

/** Forgets a copy that is no longer used. Returns whether there was one. */
export async function forgetCopy(db: Database): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`delete from ops.analytics_engine`.execute(db);
  return numAffectedRows > 0n;
}

/** `db` stores how a sync ended; `lockDb` holds the lock for as long as it takes. */
type Databases = { db: Database; lockDb: Database };

/** Syncs the copy and stores how that ended. One process does at a time: another fails with `isLockHeld`. */
export async function syncingAlone<Result extends { position: bigint }>(
  { db, lockDb }: Databases,
  sync: () => Promise<Result>,
): Promise<Result> {
  return await lockDb.connection().execute(async (connection) => {
    const run = (statement: string) => sql.raw(statement).execute(connection);
    const lock = `analytics ${engine}`;
    await createLock(run, lock);
    await beginHolding(run);
    try {
      await takeLock(run, lock, "nowait");
      return await storingOutcome(db, sync);
    } finally {
      await run("rollback");
    }
  });
}

async function storingOutcome<Result extends { position: bigint }>(
  db: Database,
  sync: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await sync();
    await sql`
      insert into ops.analytics_engine (engine, position, synced_at)
      values (${engine}, ${result.position}, clock_timestamp())
      on conflict (engine) do update
        set position = excluded.position, synced_at = excluded.synced_at, failed_at = null, error = null`.execute(
      db,
    );
    return result;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await sql`
      insert into ops.analytics_engine (engine, position, failed_at, error)
      values (${engine}, 0, clock_timestamp(), ${message.slice(0, 500)})
      on conflict (engine) do update set failed_at = excluded.failed_at, error = excluded.error`.execute(
      db,
    );
    throw error;
  }
}
