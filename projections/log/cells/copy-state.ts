import { type RawBuilder, sql } from "kysely";
import type { Session } from "../../database.ts";
import type { ChainMove } from "./chain-move.ts";
import { storeRows } from "./copy-rows.ts";

/** Rows `t` of a table beside the log. */
type StateTable = readonly [table: string, where: RawBuilder<unknown>];

/** Rows that are under way at a time. */
const stepRows = 10_000;

const ofChain = (chainId: number) => sql`t.chain_id = ${chainId}`;

const ofContract = (chainId: number, column: string) => sql`exists (
  select from log.contract k where k.contract_id = ${sql.ref(`t.${column}`)} and k.chain_id = ${chainId})`;

const sources = (chainId: number): StateTable => ["ops.source", ofChain(chainId)];

/** What is known of a chain beside its facts. It changes all the time, and what is a little old is brought up to date. */
const slowState = (chainId: number): StateTable[] => [
  sources(chainId),
  ["ops.partner_collection", ofChain(chainId)],
  ["ops.partner_listing", ofChain(chainId)],
  ["ops.royalty_scan", ofChain(chainId)],
  ["ops.royalty_reread", ofChain(chainId)],
  ["ops.order_recheck", ofChain(chainId)],
  ["rarity.token", ofContract(chainId, "contract_id")],
  ["rarity.collection", ofContract(chainId, "collection_id")],
];

/** What must be as it is when the chain changes its database: what is recorded of it, and what orders are charged to. */
const exactState = (chainId: number): StateTable[] => [
  ["ops.recorder", ofChain(chainId)],
  ["ops.recorded_block", ofChain(chainId)],
  ["ops.observation_check", ofChain(chainId)],
  ["ops.order_budget", ofChain(chainId)],
  ["ops.blocked_maker", sql`true`],
  ["ops.switch", sql`true`],
];

export const copySlowState = (move: ChainMove) => copyAll(move, slowState(move.chainId));
export const copyExactState = (move: ChainMove) => copyAll(move, exactState(move.chainId));

async function copyAll(move: ChainMove, tables: readonly StateTable[]): Promise<void> {
  await move.to.transaction().execute(async (session) => {
    for (const table of tables) await replaceTable(move, session, table);
  });
}

/** Replaces the table's rows by those of one snapshot of the other database. */
async function replaceTable(
  { from }: ChainMove,
  to: Session,
  [table, where]: StateTable,
): Promise<void> {
  await sql`delete from ${sql.table(table)} t where ${where}`.execute(to);
  await from.transaction().execute(async (session) => {
    await sql`
      declare copied no scroll cursor for
      select row_to_json(t)::text as row from ${sql.table(table)} t where ${where}`.execute(
      session,
    );
    for (;;) {
      const { rows } = await sql<{ row: string }>`
        fetch forward ${sql.lit(stepRows)} from copied`.execute(session);
      await storeRows(to, table, `[${rows.map(({ row }) => row).join(",")}]`);
      if (rows.length < stepRows) return;
    }
  });
}

/** What is indexed of the chain. */
export const copySources = (move: ChainMove, to: Session) =>
  replaceTable(move, to, sources(move.chainId));

/** The indexers of the chain, which begin in the new database as they are in the old one. */
export async function copyIndexers({ chainId, from }: ChainMove, to: Session): Promise<void> {
  const { rows } = await sql<{ name: string; schema: string; generation: number }>`
    select name, ponder_schema as schema, generation from ops.indexer where chain_id = ${chainId}`.execute(
    from,
  );
  for (const { name, schema, generation } of rows) {
    await sql`
      insert into ops.indexer (chain_id, name, ponder_schema, started_at, generation)
      values (${chainId}, ${name}, ${schema}, now(), ${generation})
      on conflict (chain_id, name) do nothing`.execute(to);
  }
}
