import { type RawBuilder, sql } from "kysely";
import { holdsAny } from "../engine/fact-window.ts";
import type { FactWindow, WindowWithKinds } from "../engine/projection.ts";
import { blockNumberOf } from "../log/blocks.ts";
import type { Session } from "../log/database.ts";
import { type FactKind, kindList, kindLiteral } from "../log/fact-kinds.ts";

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Seconds until metadata is fetched again: it may have been revealed or changed. */
const refreshSeconds = 30 * day;

/** Seconds until the next attempt after the first, second, … failure; after more, `refreshSeconds`. */
const retrySeconds = [minute, 30 * minute, 6 * hour, day, 7 * day] as const;

const literal = (value: number) => sql.raw(String(value));
const confirmed = kindLiteral("metadata_confirmed");

type FetchedTable = {
  table: "token" | "contract";
  kind: FactKind;
  /** SQL: whether a fact without a payload belongs to this table. */
  isOwn: RawBuilder<unknown>;
  key: readonly string[];
  /** Columns of the table and their payload members, of which the first counts that a payload has. */
  columns: readonly (readonly [column: string, ...members: string[]])[];
  /** Columns that are JSON lists. */
  lists: readonly string[];
};

/** What was left out, or why there is nothing. */
const issueColumn = ["issue", "issue", "error"] as const;

const tokenTable: FetchedTable = {
  table: "token",
  kind: "token_metadata_fetched",
  isOwn: sql`token_id is not null`,
  key: ["contract_id", "token_id"],
  columns: [
    ["name", "name"],
    ["description", "description"],
    ["image", "image"],
    ["animation", "animation"],
    ["content_type", "contentType"],
    ["token_uri", "tokenUri"],
    issueColumn,
  ],
  lists: ["attributes"],
};

const contractTable: FetchedTable = {
  table: "contract",
  kind: "contract_metadata_fetched",
  isOwn: sql`token_id is null`,
  key: ["contract_id"],
  columns: [
    ...["name", "description", "image", "banner", "website", "twitter", "discord", "uri"].map(
      (name) => [name, name] as const,
    ),
    issueColumn,
  ],
  lists: [],
};

/** Applies a window's fetches. One that was made at a block is not effective while that block is retracted. */
export async function applyFetched(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<void> {
  for (const target of [tokenTable, contractTable]) {
    if (holdsAny(window.kinds, [target.kind, "metadata_confirmed"]))
      await applyFetchedTable(session, schema, window, target);
  }
}

/** The same for all facts, into empty tables without indexes. */
export async function deriveAllFetched(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  for (const target of [tokenTable, contractTable]) {
    await sql`
      with latest as materialized (${latestFetches(window, target, window.changes)})
      insert into ${sql.table(`${schema}.${target.table}`)} (${columnsOf(target)})
      ${rowsOf(window, target)}`.execute(session);
  }
}

async function applyFetchedTable(
  session: Session,
  schema: string,
  window: FactWindow,
  target: FetchedTable,
): Promise<void> {
  const table = sql.table(`${schema}.${target.table}`);
  const isSame = sql.join(
    target.key.map((name) => sql`${sql.ref(`t.${name}`)} = ${sql.ref(`d.${name}`)}`),
    sql` and `,
  );
  const replaced = sql.join(
    namesOf(target).map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`),
  );
  const isReverted = sql`${isFetchOf(target)} and (weight < 0 or position <= ${window.after})`;
  const reverted = sql`
    select distinct ${columnList(target.key)} from ${window.changes} where ${isReverted}`;
  await sql`
    delete from ${table} t using (${reverted}) d where ${isSame}`.execute(session);
  await sql`
    with reverted as materialized (${reverted}), fetched as materialized (
      ${fetchesOf(window, target)}
    ), latest as materialized (${latestFetches(window, target, sql`fetched`)}), kept as (
      update ${table} t
      set attempt = d.attempt, last_position = d.last_position, due_at = ${dueAt}, read_at = ${readAt}
      from latest d
      where ${isSame} and d.ok_position is null and (t.status = 'ok' or d.position is null)
    )
    insert into ${table} (${columnsOf(target)})
    ${rowsOf(window, target)}
    where d.ok_position is not null
       or not exists (select from ${table} t where ${isSame} and t.status = 'ok')
    on conflict (${columnList(target.key)}) do update
    set position = excluded.position, status = excluded.status, updated_at = excluded.updated_at,
        attempt = excluded.attempt, last_position = excluded.last_position, due_at = excluded.due_at,
        read_at = excluded.read_at, ${replaced}
  `.execute(session);
}

const isFetchOf = ({ kind, isOwn }: FetchedTable) =>
  sql`(kind = ${kindLiteral(kind)} or (kind = ${confirmed} and ${isOwn}))`;

/** SQL: the fetches of a window, and all effective ones of keys of which it takes some back, or brings some back. */
function fetchesOf(window: FactWindow, target: FetchedTable): RawBuilder<unknown> {
  const columns = sql`contract_id, token_id, position, kind, amount, payload`;
  const isSame = sql.join(
    target.key.map((name) => sql`${sql.ref(`f.${name}`)} = ${sql.ref(`r.${name}`)}`),
    sql` and `,
  );
  return sql`
    select ${columns} from ${window.changes} c
    where ${isFetchOf(target)} and not exists (
      select from reverted r where ${sql.join(
        target.key.map((name) => sql`${sql.ref(`c.${name}`)} = ${sql.ref(`r.${name}`)}`),
        sql` and `,
      )})
    union all
    select f.* from reverted r cross join lateral (
      select ${columns} from ${window.facts} f
      where ${isSame} and ${isFetchOf(target)} and f.kind in ${kindList("token_metadata_fetched", "contract_metadata_fetched", "metadata_confirmed")}
        and f.position <= ${window.upTo}
        and not exists (select from ${window.retractedBlocks} gone where gone.block_id = f.block_id)
      offset 0
    ) f`;
}

const namesOf = ({ columns, lists }: FetchedTable) => [
  ...columns.map(([column]) => column),
  ...lists,
];

const columnsOf = (target: FetchedTable) => sql`
  ${columnList(target.key)}, position, status, ${columnList(namesOf(target))}, updated_at, chain_id, attempt, last_position, due_at,
  read_at`;

/** SQL: the rows made of the CTE `latest`, in the order of `columnsOf`. */
function rowsOf(window: FactWindow, { key, columns, lists }: FetchedTable): RawBuilder<unknown> {
  const values = sql.join([
    ...columns.map(([, ...members]) => {
      const values = members.map((member) => sql`f.payload ->> ${sql.lit(member)}`);
      return sql`coalesce(${sql.join(values)})`;
    }),
    ...lists.map((name) => sql`coalesce(f.payload -> ${sql.lit(name)}, '[]')`),
  ]);
  return sql`
    select ${columnList(key, "d")}, d.position, f.payload ->> 'status', ${values}, f.recorded_at, d.chain_id,
           d.attempt, d.last_position, ${dueAt}, ${readAt}
    from latest d
    join ${window.facts} f on f.position = d.position`;
}

/** SQL: for each key its last fact of the window, the last successful one, and the one that the row shows. */
function latestFetches(
  window: FactWindow,
  target: FetchedTable,
  fetches: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { kind: name, key } = target;
  const kind = kindLiteral(name);
  const isOk = sql`kind = ${kind} and payload ->> 'status' = 'ok'`;
  return sql`
    select ${columnList(key, "r")}, r.last_position, r.ok_position, k.chain_id, last.recorded_at as last_at, last.block_id,
           coalesce(r.ok_position, r.fetch_position) as position,
           case when last.kind = ${kind} and last.payload ->> 'status' = 'failed'
                then coalesce((last.payload ->> 'attempt')::integer, 1) else 0 end as attempt
    from (
      select ${columnList(key)}, max(position) as last_position, max(position) filter (where ${isOk}) as ok_position,
             max(position) filter (where kind = ${kind}) as fetch_position
      from ${fetches} as f
      where ${isFetchOf(target)} and not ${confirmsNothing(window)}
      group by ${columnList(key)}
    ) r
    join log.contract k using (contract_id)
    join ${window.facts} last on last.position = r.last_position`;
}

/** SQL: whether a fetch `f` found what an earlier one said whose block is retracted since. */
const confirmsNothing = ({
  facts,
  retractedBlocks,
}: FactWindow) => sql`(f.kind = ${confirmed} and exists (
  select from ${facts} said join ${retractedBlocks} gone on gone.block_id = said.block_id
  where said.position = f.amount and said.position < f.position
    and said.contract_id = f.contract_id and said.token_id is not distinct from f.token_id))`;

const columnList = (names: readonly string[], of?: string) =>
  sql.join(names.map((name) => sql.ref(of === undefined ? name : `${of}.${name}`)));

/** Height of the block that it was fetched at; -1: a release before this one did not say. */
const readAt = sql`coalesce(${blockNumberOf(sql`d.block_id`)}, -1)`;
const retries = sql.raw(`array[${retrySeconds.join(", ")}]`);
const dueAt = sql`
  d.last_at + interval '1 second' * case
    when d.attempt between 1 and ${literal(retrySeconds.length)} then (${retries})[d.attempt]
    else ${literal(refreshSeconds)} end`;
