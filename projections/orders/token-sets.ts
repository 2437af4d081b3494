import { sql } from "kysely";
import type { Address, Hex } from "viem";
import { holdsAny } from "../engine/fact-window.ts";
import type { Relation, WindowWithKinds } from "../engine/projection.ts";
import { bitsOf, bitsType, chunkOf, idsPerChunk } from "../engine/token-ids.ts";
import { contentIdentity, type Observation } from "../log/append.ts";
import type { Session } from "../log/database.ts";
import { kindList } from "../log/fact-kinds.ts";

/** Tokens of a contract that bids by criteria are for. */
type TokenSet = { contract: Address; root: Hex; tokenIds: readonly bigint[] };

/** The fact of a set: one by contract and root, however many bids are for it. */
export function tokenSetSubmitted(
  chainId: number,
  { contract, root, tokenIds }: TokenSet,
  receivedAt: Date,
): Observation {
  return {
    kind: "token_set_submitted",
    chainId,
    contract,
    identity: contentIdentity(["token_set_submitted", chainId, contract, root]),
    recordedAt: receivedAt,
    orderHash: root,
    payload: { tokenIds: tokenIds.map(String) },
  };
}

/** Ids whose text in the log takes the place of a row. */
const idsPerRow = 50;

/** What a new set is charged with: its chunks' rows, and as many as the log's text of its ids is worth. */
export function rowsOfTokenSet(tokenIds: readonly bigint[]): number {
  // As text: a set of bigints tells them apart by their low 64 bits, in which all may be equal.
  const chunks = new Set(tokenIds.map((tokenId) => String(tokenId / BigInt(idsPerChunk))));
  return chunks.size + Math.ceil(tokenIds.length / idsPerRow);
}

/** The tables of sets: their sizes, and their ids as bits, of which a set of neighbours needs few rows. */
export function tokenSetTables(schema: string): string[] {
  const [set, chunk] = [`${schema}.token_set`, `${schema}.token_set_chunk`];
  return [
    `create table ${set} (
       contract_id integer not null,
       root        bytea not null,
       tokens      integer not null,
       primary key (contract_id, root)
     )`,
    `comment on table ${set} is 'Tokens that bids are for: Seaport''s criteria'`,
    `create table ${chunk} (
       contract_id integer not null,
       root        bytea not null,
       chunk       numeric(78,0) not null,
       bits        ${bitsType} not null,
       primary key (contract_id, chunk, root)
     )`,
    `comment on table ${chunk} is 'A bit per token id of a chunk of 1,024: whether the set holds it'`,
  ];
}

/** Stores the sets among a window's facts. */
export async function storeTokenSets(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<void> {
  if (holdsAny(window.kinds, ["token_set_submitted"]))
    await insertTokenSets(session, schema, { facts: window.changes, isBulk: false });
}

/** `isBulk`: into empty tables, which have no indexes yet. */
export async function insertTokenSets(
  session: Session,
  schema: string,
  { facts, isBulk }: { facts: Relation; isBulk: boolean },
): Promise<void> {
  const conflict = isBulk ? sql`` : sql`on conflict do nothing`;
  const isSet = sql`f.kind in ${kindList("token_set_submitted")}`;
  const id = sql`one.id::numeric`;
  await sql`
    with added as (
      insert into ${sql.table(`${schema}.token_set`)} (contract_id, root, tokens)
      select f.contract_id, f.order_hash, jsonb_array_length(f.payload -> 'tokenIds') from ${facts} f where ${isSet} ${conflict}
    )
    insert into ${sql.table(`${schema}.token_set_chunk`)} (contract_id, root, chunk, bits)
    select f.contract_id, f.order_hash, ${chunkOf(id)}, bit_or(${bitsOf(id)})
    from ${facts} f cross join lateral jsonb_array_elements_text(f.payload -> 'tokenIds') one (id)
    where ${isSet} group by 1, 2, 3 ${conflict}`.execute(session);
}
