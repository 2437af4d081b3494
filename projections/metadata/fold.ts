import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import { refreshSeconds, retrySeconds } from "../domain/metadata/fetching-schedule.ts";
import type { FactWindow, WindowWithKinds } from "../engine/projection.ts";
import { holdsAny } from "../engine/window.ts";
import type { FactKind } from "../log/fact-kind.ts";
import { kindLiteral } from "../log/fact-kind-sql.ts";

const number = (value: number) => sql.raw(String(value));
const confirmed = kindLiteral("metadata_confirmed");

type Told = {
  table: "token" | "contract";
  kind: FactKind;
  /** Which facts without a payload are of this table. */
  isOwn: RawBuilder<unknown>;
  key: readonly string[];
  /** Columns of the table and where the payload has them. */
  columns: readonly (readonly [column: string, member: string])[];
  lists: readonly string[];
};

const tokens: Told = {
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
  ],
  lists: ["attributes"],
};

const contracts: Told = {
  table: "contract",
  kind: "contract_metadata_fetched",
  isOwn: sql`token_id is null`,
  key: ["contract_id"],
  columns: ["name", "description", "image", "banner", "website", "twitter", "discord", "uri"].map(
    (name) => [name, name] as const,
  ),
  lists: [],
};

/** Brings the rows up to the window's facts. None of them ceases to count: no block stands behind them. */
export async function foldFetched(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<void> {
  for (const told of [tokens, contracts]) {
    if (holdsAny(window.kinds, [told.kind, "metadata_confirmed"]))
      await foldTold(session, schema, window, told);
  }
}

/** The same of all facts, for empty tables without indexes. */
export async function insertFetched(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  for (const told of [tokens, contracts]) {
    await sql`
      with told as materialized (${toldSince(window, told)})
      insert into ${sql.table(`${schema}.${told.table}`)} (${columnsOf(told)})
      ${rowsOf(window, told)}`.execute(session);
  }
}

async function foldTold(
  session: Session,
  schema: string,
  window: FactWindow,
  told: Told,
): Promise<void> {
  const target = sql.table(`${schema}.${told.table}`);
  const isSame = sql.join(
    told.key.map((name) => sql`${sql.ref(`t.${name}`)} = ${sql.ref(`d.${name}`)}`),
    sql` and `,
  );
  const replaced = sql.join(
    namesOf(told).map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`),
  );
  await sql`
    with told as materialized (${toldSince(window, told)}), stood as (
      update ${target} t
      set attempt = d.attempt, last_position = d.last_position, due_at = ${dueAt}
      from told d
      where ${isSame} and d.ok_position is null and (t.status = 'ok' or d.position is null)
    )
    insert into ${target} (${columnsOf(told)})
    ${rowsOf(window, told)}
    where d.ok_position is not null
       or not exists (select from ${target} t where ${isSame} and t.status = 'ok')
    on conflict (${listed(told.key)}) do update
    set position = excluded.position, status = excluded.status, updated_at = excluded.updated_at,
        attempt = excluded.attempt, last_position = excluded.last_position, due_at = excluded.due_at, ${replaced}
  `.execute(session);
}

const namesOf = ({ columns, lists }: Told) => [...columns.map(([column]) => column), ...lists];

const columnsOf = (told: Told) => sql`
  ${listed(told.key)}, position, status, ${listed(namesOf(told))}, updated_at, chain_id, attempt, last_position, due_at`;

/** What the facts of \`told\` make rows of, in the order of the columns. */
function rowsOf(window: FactWindow, { key, columns, lists }: Told): RawBuilder<unknown> {
  const values = sql.join([
    ...columns.map(([, member]) => sql`f.payload ->> ${sql.lit(member)}`),
    ...lists.map((name) => sql`coalesce(f.payload -> ${sql.lit(name)}, '[]')`),
  ]);
  return sql`
    select ${listed(key, "d")}, d.position, f.payload ->> 'status', ${values}, f.recorded_at, d.chain_id,
           d.attempt, d.last_position, ${dueAt}
    from told d
    join ${window.facts} f on f.position = d.position`;
}

/** For each key its last fact of the window, the last that is ok, and which of them the row would tell. */
function toldSince(window: FactWindow, { kind: name, isOwn, key }: Told): RawBuilder<unknown> {
  const kind = kindLiteral(name);
  const isOk = sql`kind = ${kind} and payload ->> 'status' = 'ok'`;
  return sql`
    select ${listed(key, "r")}, r.last_position, r.ok_position, k.chain_id, last.recorded_at as last_at,
           coalesce(r.ok_position, r.told_position) as position,
           case when last.kind = ${kind} and last.payload ->> 'status' = 'failed'
                then coalesce((last.payload ->> 'attempt')::integer, 1) else 0 end as attempt
    from (
      select ${listed(key)}, max(position) as last_position, max(position) filter (where ${isOk}) as ok_position,
             max(position) filter (where kind = ${kind}) as told_position
      from ${window.changes}
      where kind = ${kind} or (kind = ${confirmed} and ${isOwn})
      group by ${listed(key)}
    ) r
    join log.contract k using (contract_id)
    join ${window.facts} last on last.position = r.last_position`;
}

const listed = (names: readonly string[], of?: string) =>
  sql.join(names.map((name) => sql.ref(of === undefined ? name : `${of}.${name}`)));

const retries = sql.raw(`array[${retrySeconds.join(", ")}]`);
const dueAt = sql`
  d.last_at + interval '1 second' * case
    when d.attempt between 1 and ${number(retrySeconds.length)} then (${retries})[d.attempt]
    else ${number(refreshSeconds)} end`;
