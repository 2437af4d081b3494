import { setTimeout as delay } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { readLogHead } from "../log/blocks.ts";
import type { Database, Session } from "../log/database.ts";
import { schemaOf } from "../log/versions.ts";
import { type Checkpoint, isCurrent, readCheckpoints } from "./checkpoint.ts";
import type { Projection } from "./projection.ts";
import { readSchemaTables, type SchemaTable } from "./verify.ts";

/** A row that two databases differ in, as JSON. Null: it is missing there. */
type RowPair = { readonly here: string | null; readonly there: string | null };

/** What was compared of the log or of a projection, at which position; `untold`: why it was not. */
export type Compared = {
  readonly name: string;
  readonly position: bigint;
  readonly rows: bigint;
  /** Of `mostParts` parts of each table. */
  readonly differentParts: number;
  /** Of the first parts that differ. */
  readonly examples: readonly ({ readonly table: string } & RowPair)[];
  readonly untold?: string;
};

type Options = {
  readonly maxExamples: number;
  /** How long to wait until both are at one position. */
  readonly waitMs: number;
};

/** Parts of a table whose digests are compared: of those alone that differ the rows are read. */
export const mostParts = 4_096;
const POLL_MS = 200;

type Pair = readonly [Session, Session];

/**
 * Compares two databases with one log, each in one snapshot: the facts up to the lower head, with their blocks and contracts, and
 * the rows of projections that both have at one position. Both send digests, and rows of the parts that differ.
 */
export async function compareDatabases(
  [here, there]: readonly [Database, Database],
  projections: readonly Projection[],
  { maxExamples, waitMs }: Options,
): Promise<Compared[]> {
  for (const deadline = Date.now() + waitMs; ; await delay(POLL_MS)) {
    const found = await inSnapshot(here, (one) =>
      inSnapshot(there, async (other) => {
        const pair = [one, other] as const;
        const states = await readStates(pair, projections);
        const mayCatchUp = states.some(({ isApart }) => isApart) && Date.now() < deadline;
        return mayCatchUp ? null : await compareStates(pair, states, maxExamples);
      }),
    );
    if (found !== null) return found;
  }
}

const inSnapshot = <Value>(db: Database, work: (session: Session) => Promise<Value>) =>
  db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (session) => {
      // Rows are compared by their text.
      await sql`
        select set_config(name, value, true)
        from (values ('timezone', 'UTC'), ('datestyle', 'ISO'), ('bytea_output', 'hex')) given (name, value)`.execute(
        session,
      );
      return await work(session);
    });

type State = {
  readonly projection: Projection;
  readonly position: bigint;
  /** They are at two positions, which they may leave. */
  readonly isApart: boolean;
  readonly untold?: string;
};

async function readStates(pair: Pair, projections: readonly Projection[]): Promise<State[]> {
  const [ours, theirs] = [await readCheckpoints(pair[0]), await readCheckpoints(pair[1])];
  return projections.map((projection) => {
    const schema = schemaOf(projection.name);
    return stateOf(projection, ours.get(schema), theirs.get(schema));
  });
}

function stateOf(
  projection: Projection,
  here: Checkpoint | undefined,
  there: Checkpoint | undefined,
): State {
  const position = here?.position ?? 0n;
  for (const [one, place] of [
    [here, "here"],
    [there, "there"],
  ] as const)
    if (one === undefined || !isCurrent(one, projection)) {
      const untold = `there are no tables of version ${projection.version} ${place}`;
      return { projection, position, isApart: false, untold };
    }
  if (here?.position === there?.position) return { projection, position, isApart: false };
  const untold = `it is at position ${position} here, at ${there?.position} there`;
  return { projection, position, isApart: true, untold };
}

async function compareStates(
  pair: Pair,
  states: readonly State[],
  maxExamples: number,
): Promise<Compared[]> {
  const found = [await compareLogs(pair, maxExamples)];
  for (const { projection, position, untold } of states) {
    const { name } = projection;
    const none = { name, position, rows: 0n, differentParts: 0, examples: [] };
    if (untold === undefined) found.push(await compareProjection(pair, none, maxExamples));
    else found.push({ ...none, untold });
  }
  return found;
}

async function compareLogs(pair: Pair, maxExamples: number): Promise<Compared> {
  const heads = [await readLogHead(pair[0]), await readLogHead(pair[1])];
  const position = heads.reduce((low, head) => (head < low ? head : low));
  const facts = {
    table: "log.fact",
    // Ranges of positions: the first part that differs holds the first fact that does.
    part: sql`(r.position * ${mostParts - 1} / ${position || 1n}::bigint)::int`,
    key: ["position"],
    rows: sql`(
      select f.*, k.chain_id as contract_chain, k.address as contract, b.hash as block, b.timestamp as block_time
      from log.fact f left join log.contract k using (contract_id) left join log.block b using (block_id)
      where f.position <= ${position}::bigint
    )`,
  };
  return { name: "log", position, ...(await compareRows(pair, facts, maxExamples)) };
}

async function compareProjection(
  pair: Pair,
  total: Compared,
  maxExamples: number,
): Promise<Compared> {
  const schema = schemaOf(total.name);
  const [ours, theirs] = [
    await readSchemaTables(pair[0], schema),
    await readSchemaTables(pair[1], schema),
  ];
  let { rows, differentParts } = total;
  const examples = [...total.examples];
  for (const table of ours) {
    const same = theirs.find(({ name }) => name === table.name);
    if (same?.columns.toSorted().join() !== table.columns.toSorted().join())
      return { ...total, untold: `the columns of ${schema}.${table.name} differ` };
    if (table.key.length === 0) throw new Error(`${schema}.${table.name} has no key`);
    const parted = rowsOfTable(schema, table);
    const found = await compareRows(pair, parted, maxExamples - examples.length);
    rows += found.rows;
    differentParts += found.differentParts;
    examples.push(...found.examples);
  }
  return { ...total, rows, differentParts, examples };
}

/** How a table's rows `r` are read and put into parts. */
type Parted = {
  readonly table: string;
  readonly part: RawBuilder<unknown>;
  readonly key: readonly string[];
  readonly rows: RawBuilder<unknown>;
};

/** The columns in one order: tables of two databases may have come to them by other ways. */
function rowsOfTable(schema: string, { name, columns, key }: SchemaTable): Parted {
  const all = sql.join(columns.toSorted().map((column) => sql.id(column)));
  return {
    table: `${schema}.${name}`,
    part: sql`(hashtextextended(${textOf(key)}, 0) & ${mostParts - 1})::int`,
    key,
    rows: sql`(select ${all} from ${sql.id(schema, name)})`,
  };
}

type Part = { part: number; rows: bigint; digest: bigint };

async function compareRows(pair: Pair, parted: Parted, maxExamples: number) {
  const [ours, theirs] = await Promise.all(pair.map((session) => readParts(session, parted)));
  if (ours === undefined || theirs === undefined) throw new Error("a database was not read");
  const all = [...new Set([...ours.keys(), ...theirs.keys()])].toSorted((a, b) => a - b);
  const isEqual = (part: number) =>
    ours.get(part)?.digest === theirs.get(part)?.digest &&
    ours.get(part)?.rows === theirs.get(part)?.rows;
  const different = all.filter((part) => !isEqual(part));
  const examples: ({ table: string } & RowPair)[] = [];
  for (const part of different) {
    if (examples.length >= maxExamples) break;
    const rows = await differentRows(pair, parted, part);
    examples.push(
      ...rows
        .slice(0, maxExamples - examples.length)
        .map((row) => ({ table: parted.table, ...row })),
    );
  }
  const rows = [...ours.values()].reduce((sum, one) => sum + one.rows, 0n);
  return { rows, differentParts: different.length, examples };
}

async function readParts(
  session: Session,
  { part, rows: from }: Parted,
): Promise<Map<number, Part>> {
  const { rows } = await sql<Part>`
    select ${part} as part, count(*) as rows, sum(hashtextextended(r::text, 0)) as digest
    from ${from} r group by 1`.execute(session);
  return new Map(rows.map((row) => [row.part, row]));
}

async function differentRows(pair: Pair, parted: Parted, part: number): Promise<RowPair[]> {
  const [ours, theirs] = await Promise.all(
    pair.map((session) => readRowsOfPart(session, parted, part)),
  );
  const names = [...new Set([...(ours?.keys() ?? []), ...(theirs?.keys() ?? [])])];
  return names
    .map((name) => ({ here: ours?.get(name) ?? null, there: theirs?.get(name) ?? null }))
    .filter(({ here, there }) => here !== there);
}

/** By their keys, in their order. */
async function readRowsOfPart(
  session: Session,
  { part, key, rows: from }: Parted,
  wanted: number,
): Promise<Map<string, string>> {
  const { rows } = await sql<{ key: string; row: string }>`
    select ${textOf(key)} as key, to_jsonb(r)::text as row from ${from} r where ${part} = ${wanted}::int
    order by ${sql.join(key.map(columnOfRow))}`.execute(session);
  return new Map(rows.map(({ key, row }) => [key, row]));
}

const columnOfRow = (column: string) => sql`r.${sql.id(column)}`;
const textOf = (key: readonly string[]) => sql`row(${sql.join(key.map(columnOfRow))})::text`;
