import { sql } from "kysely";
import { chainIds } from "#chains/index.ts";
import { clockAt, holdsAny, withKinds } from "../engine/fact-window.ts";
import type { FactWindow, Projection } from "../engine/projection.ts";
import { openScratchTable } from "../engine/scratch.ts";
import type { Session } from "../log/database.ts";
import { factKind } from "../log/fact-kinds.ts";
import { sendAhead } from "../log/pipelined.ts";
import { versions } from "../log/versions.ts";
import { addTimeAffected, deriveCollections, deriveFigures } from "./collection-figures.ts";
import {
  addAllContracts,
  deriveAllListedTokens,
  deriveListedTokens,
  findAffectedContracts,
  openAffected,
  updateContracts,
} from "./contract-figures.ts";
import {
  hoursOf,
  type Period,
  periods,
  salesColumn,
  salesColumns,
  salesFigures,
  sortFigures,
} from "./read-figures.ts";
import {
  deriveAllMinuteSales,
  deriveAllWashTrades,
  deriveMinuteSales,
  deriveWashTrades,
} from "./sales-figures.ts";

/** Figures of collections. Derived from the tables of `read`: rebuilt when their versions or parameters change. */
export function collectionStatsProjection(read: readonly Projection[]): Projection {
  return {
    name: "collection_stats",
    version: versions.collection_stats.version,
    parameters: read
      .map(({ name, version, parameters }) => [name, version, parameters].join(" ").trim())
      .join(", "),
    reads: read.map(({ name }) => name),
    tables,
    // From position 0 the tables are empty: all is derived from the tables it reads, which are at the window's end.
    apply: (session, schema, window) =>
      window.after === 0n ? deriveAll(session, schema, window) : derive(session, schema, window),
  };
}

/** Kinds of facts that name or verify a collection. */
const namingKinds = ["collection_registered", "contract_described"] as const;

async function derive(session: Session, schema: string, opened: FactWindow): Promise<void> {
  const window = await withKinds(session, opened);
  const { kinds } = window;
  if (kinds.size === 0) return;
  await sendAhead(session, async (ahead) => {
    await openAffected(ahead);
    await deriveListedTokens(ahead, schema, window);
    await deriveMinuteSales(ahead, schema, window);
    await deriveWashTrades(ahead, schema, window);
  });
  if (holdsAny(kinds, ["clock_ticked", "floor_snapshotted"]))
    await advancePeriodClock(session, schema, window);
  if (kinds.has(factKind.floor_snapshotted)) await advanceSnapshotClock(session, schema);
  await findAffectedContracts(session, schema, window);
  const isRegrouped = await updateContracts(session, schema, window, { all: false });
  if (kinds.has(factKind.clock_ticked)) await addTimeAffected(session, schema, window);
  // Only then can a collection be added, removed, renamed or given other contracts.
  if (isRegrouped || holdsAny(kinds, namingKinds)) await deriveCollections(session, schema);
  else await deriveFigures(session, schema);
}

/** Derives everything from the tables that it reads. */
async function deriveAll(session: Session, schema: string, window: FactWindow): Promise<void> {
  await openAffected(session);
  await deriveAllListedTokens(session, schema);
  await deriveAllMinuteSales(session, schema);
  await deriveAllWashTrades(session, schema);
  await advancePeriodClock(session, schema, window);
  await advanceSnapshotClock(session, schema);
  await addAllContracts(session);
  await sql`analyze pg_temp.affected_contract`.execute(session);
  await updateContracts(session, schema, window, { all: true });
  for (const table of ["token", "minute_sales", "wash_trade", "contract"]) {
    await sql`analyze ${sql.id(schema, table)}`.execute(session);
  }
  await deriveCollections(session, schema);
}

/** SQL: the time of the last floor snapshot of any chain. */
const lastSnapshotAt = sql`
  select max(last.taken_at)
  from unnest(array[${sql.join(chainIds.map((id) => sql.lit(id)))}]) one (chain_id)
  cross join lateral (
    select max(s.taken_at) as taken_at from floors.snapshot s where s.chain_id = one.chain_id
  ) last`;

/**
 * Advances the periods of sales to the minute of the last clock tick or floor snapshot: minutes that left a period are
 * subtracted. Before the first one nothing is in a period.
 */
async function advancePeriodClock(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const clock = sql.table(`${schema}.period_clock`);
  await openScratchTable(
    session,
    "advanced_period_clock",
    "minute timestamptz, old_minute timestamptz",
  );
  await sql`delete from pg_temp.advanced_period_clock`.execute(session);
  const { numAffectedRows } = await sql`
    insert into pg_temp.advanced_period_clock
    select date_trunc('minute', to_timestamp(tick.at), 'UTC'), k.minute
    from (
      select greatest(nullif(${clockAt(window)}, 0), extract(epoch from (${lastSnapshotAt})))::float8 as at
    ) tick left join ${clock} k on true
    where tick.at is not null and date_trunc('minute', to_timestamp(tick.at), 'UTC') is distinct from k.minute`.execute(
    session,
  );
  if ((numAffectedRows ?? 0n) === 0n) return;
  for (const period of periods) await updatePeriodFigures(session, schema, period);
  await sql`delete from ${clock}`.execute(session);
  await sql`insert into ${clock} select minute from pg_temp.advanced_period_clock`.execute(session);
}

/** Without a clock the periods were empty: all their minutes are added. */
async function updatePeriodFigures(
  session: Session,
  schema: string,
  period: Period,
): Promise<void> {
  const counts = {
    minute_sales: salesFigures.map((figure) => [figure, sql`h.${sql.ref(figure)}`] as const),
    wash_trade: [["wash_sales", sql`1`] as const, ["wash_wei", sql`h.wei`] as const],
  };
  for (const [table, figures] of Object.entries(counts)) {
    const columns = figures.map(([figure]) => sql.id(salesColumn(figure, period)));
    const sums = figures.map(([, count]) => sql`sum(m.sign * ${count})`);
    await sql`
      insert into pg_temp.figure_delta (contract_id, ${sql.join(columns)})
      select h.contract_id, ${sql.join(sums)}
      from (
        select case when m.old_minute is null then 1 else -1 end as sign,
               coalesce(m.old_minute, m.minute) - ${hoursOf(period)} as start,
               case when m.old_minute is null then 'infinity' else m.minute - ${hoursOf(period)} end as before
        from pg_temp.advanced_period_clock m
      ) m
      join ${sql.table(`${schema}.${table}`)} h on h.minute >= m.start and h.minute < m.before
      group by h.contract_id`.execute(session);
  }
}

/** How much older than one period before the last snapshot the compared snapshot may be. */
const maxSnapshotGap = sql.raw("interval '1 hour'");

/** Advances the clock to the last floor snapshot. Contracts whose floor one period ago changed are affected. */
async function advanceSnapshotClock(session: Session, schema: string): Promise<void> {
  const clock = sql.table(`${schema}.snapshot_clock`);
  const before = periods.map(
    (period) => `"before_${period}" timestamptz, "old_${period}" timestamptz`,
  );
  await openScratchTable(
    session,
    "advanced_clock",
    `chain_id integer, snapshot_at timestamptz, old_snapshot_at timestamptz, ${before.join(", ")}`,
  );
  await sql`delete from pg_temp.advanced_clock`.execute(session);
  const { numAffectedRows } = await sql`
    insert into pg_temp.advanced_clock
    select last.chain_id, last.snapshot_at, c.snapshot_at, ${sql.join(
      periods.map((period) => sql`(${onePeriodBefore(period)}), c.${sql.ref(`before_${period}`)}`),
    )}
    from (
      select chain_id, (select max(s.taken_at) from floors.snapshot s where s.chain_id = one.chain_id) as snapshot_at
      from unnest(array[${sql.join(chainIds.map((id) => sql.lit(id)))}]) one (chain_id)
    ) last
    left join ${clock} c using (chain_id)
    where last.snapshot_at is not null and last.snapshot_at is distinct from c.snapshot_at`.execute(
    session,
  );
  if ((numAffectedRows ?? 0n) === 0n) return;
  await addFloorAffected(session, schema);
  await sql`delete from ${clock} c using pg_temp.advanced_clock m where m.chain_id = c.chain_id`.execute(
    session,
  );
  await sql`
    insert into ${clock} select chain_id, snapshot_at, ${sql.join(periods.map((period) => sql.id(`before_${period}`)))}
    from pg_temp.advanced_clock`.execute(session);
}

function onePeriodBefore(period: Period) {
  const then = sql`last.snapshot_at - ${hoursOf(period)}`;
  return sql`
    select max(s.taken_at) from floors.snapshot s
    where s.chain_id = last.chain_id and s.taken_at <= ${then} and s.taken_at > ${then} - ${maxSnapshotGap}`;
}

/** After a longer step floors in between may have been deleted already, so all contracts are affected. */
const maxClockStep = sql.raw("interval '12 hours'");

/** Adds the contracts whose floor at the start of a period differs from before. */
async function addFloorAffected(session: Session, schema: string): Promise<void> {
  for (const period of periods) {
    const [now, old] = [sql.ref(`m.before_${period}`), sql.ref(`m.old_${period}`)];
    const changedAt = (column: string) => sql`
      select f.contract_id from pg_temp.advanced_clock m join floors.floor f
        on f.chain_id = m.chain_id and f.${sql.ref(column)} > ${old} and f.${sql.ref(column)} <= ${now}`;
    await sql`
      insert into pg_temp.affected_contract
      ${changedAt("valid_from")} union ${changedAt("valid_until")}
      union
      select c.contract_id
      from pg_temp.advanced_clock m join ${sql.table(`${schema}.contract`)} c on c.chain_id = m.chain_id
      where (${now} is null) <> (${old} is null) or m.snapshot_at > m.old_snapshot_at + ${maxClockStep}`.execute(
      session,
    );
  }
}

const numeric = (columns: readonly string[]) =>
  columns.map((column) => `"${column}" numeric not null default 0`).join(",\n       ");

/** The tables are described in `README.md`. */
function tables(schema: string): readonly string[] {
  const table = (name: string) => `"${schema}"."${name}"`;
  return [
    `create table ${table("token")} (
       contract_id integer       not null,
       token_id    numeric(78,0) not null,
       is_listed   boolean       not null,
       next_change_at    bigint        not null,
       primary key (contract_id, token_id)
     )`,
    `create index on ${table("token")} (next_change_at)`,
    `create index on ${table("token")} (contract_id, next_change_at)`,
    `comment on column ${table("token")}.next_change_at is 'When the first of its listings ends or begins, unix seconds'`,

    `create table ${table("minute_sales")} (
       contract_id    integer     not null,
       minute         timestamptz not null,
       chain_id       integer     not null,
       first_block_id bigint      not null,
       last_block_id  bigint      not null,
       last_at        timestamptz not null,
       sales          numeric     not null,
       wei            numeric     not null,
       priced_wei     numeric     not null,
       unpriced_sales numeric     not null,
       usd_e8         numeric     not null,
       primary key (contract_id, minute)
     )`,
    `create index on ${table("minute_sales")} (minute)`,

    `create table ${table("wash_trade")} (
       block_id          bigint        not null,
       transaction_index integer       not null,
       ordinal           integer       not null,
       contract_id       integer       not null,
       token_id          numeric(78,0) not null,
       chain_id          integer       not null,
       minute            timestamptz   not null,
       wei               numeric       not null,
       primary key (block_id, transaction_index, ordinal)
     )`,
    `create index on ${table("wash_trade")} (contract_id, token_id)`,
    `create index on ${table("wash_trade")} (minute)`,
    `comment on table ${table("wash_trade")} is 'Sales that are counted as wash trades'`,

    `create table ${table("contract")} (
       contract_id   integer primary key,
       chain_id      integer not null,
       collection_id integer,
       listed        numeric not null default 0,
       ${numeric(salesColumns)}
     ) with (fillfactor = 80)`,
    `create index on ${table("contract")} (collection_id)`,
    // As of `collections.contract`: most contracts are a collection of their own.
    `alter table ${table("contract")} alter column collection_id set (n_distinct = -1)`,

    `create table ${table("snapshot_clock")} (
       chain_id integer     primary key,
       snapshot_at timestamptz not null,
       ${periods.map((period) => `"before_${period}" timestamptz`).join(", ")}
     )`,
    `create table ${table("period_clock")} (
       minute timestamptz primary key
     )`,
    `comment on table ${table("period_clock")} is 'The minute of the last clock tick or floor snapshot: periods begin as long before it'`,
    `comment on table ${table("snapshot_clock")} is 'The last floor snapshot, and those one period before it'`,

    `create table ${table("collection")} (
       collection_id integer primary key,
       chain_id      integer not null,
       verified      boolean not null,
       listed        numeric not null,
       ${numeric(salesColumns)},
       floor_wei     numeric,
       floor         jsonb,
       floor_buyable jsonb,
       best_offer    jsonb,
       next_change_at      bigint,
       ${periods.map((period) => `"change_${period}" numeric`).join(", ")}
     ) with (fillfactor = 80)`,
    `comment on column ${table("collection")}.next_change_at is 'When the floor, best offer or number of listed tokens may change by time alone, unix seconds'`,
    `comment on column ${table("collection")}."change_24h" is 'Of the floor, in millionths'`,
    `create index on ${table("collection")} (next_change_at) where next_change_at is not null`,
    `create index on ${table("collection")} (chain_id, collection_id)`,

    `create table ${table("holder_stats")} (
       collection_id integer primary key,
       chain_id      integer not null,
       verified      boolean not null,
       supply        numeric not null,
       holders       numeric not null
     ) with (fillfactor = 80)`,
    `comment on table ${table("holder_stats")} is 'Figures that only transfers change, apart from the indexes of the others'`,

    ...["collection", "holder_stats"].map(
      (name) => `create index on ${table(name)} (chain_id) where verified`,
    ),
    ...[...sortFigures.values()].map(
      ({ table: name, value, isPresent }) =>
        `create index on ${table(name)} (chain_id, (${value}), collection_id) ${isPresent === null ? "" : `where ${isPresent}`}`,
    ),

    `create table ${table("search_text")} (
       collection_id integer primary key,
       chain_id      integer not null,
       verified      boolean not null,
       terms         text    not null
     )`,
    `comment on table ${table("search_text")} is 'What a collection is searched by: its name, slug and addresses in lower case'`,

    `create table ${table("collection_count")} (
       chain_id integer not null,
       verified boolean not null,
       collections bigint not null,
       primary key (chain_id, verified)
     )`,
  ];
}
