import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import { holdsAny } from "#projections/engine/fact-window.ts";
import type { Relation, WindowWithKinds } from "#projections/engine/projection.ts";
import { bitOf, bitsOf, bitsType, chunkOf, idsPerChunk } from "#projections/engine/token-ids.ts";
import { contentIdentity, type Observation } from "#projections/log/append.ts";
import type { Database, Session } from "#projections/log/database.ts";
import { kindList, kindLiteral } from "#projections/log/fact-kinds.ts";
import { byteaArray } from "#projections/log/sql-values.ts";

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

/** The token ids of a contract under each of the roots that the log holds, by root. */
export async function readTokenSets(
  db: Database,
  { chainId, contract }: { chainId: number; contract: Address },
  roots: readonly Hex[],
): Promise<Map<Hex, readonly bigint[]>> {
  if (roots.length === 0) return new Map();
  const { rows } = await sql<{ root: Hex; tokenIds: string[] }>`
    select f.order_hash as root, f.payload -> 'tokenIds' as "tokenIds"
    from log.fact f join log.contract k using (contract_id)
    where f.order_hash = any (${byteaArray(roots)}) and f.kind = ${kindLiteral("token_set_submitted")}
      and k.chain_id = ${chainId} and k.address = decode(${contract.slice(2)}, 'hex')`.execute(db);
  return new Map(rows.map(({ root, tokenIds }) => [root, tokenIds.map(BigInt)]));
}

/** A set of a contract's tokens, by its root. */
export type TokenSetKey = { contract: Address; root: Hex };

export const nameOfTokenSet = ({ contract, root }: TokenSetKey): string => `${contract} ${root}`;

/** Which of the sets the log holds, by `nameOfTokenSet`. */
export async function findTokenSets(
  db: Database,
  chainId: number,
  sets: readonly TokenSetKey[],
): Promise<Set<string>> {
  if (sets.length === 0) return new Set();
  const { rows } = await sql<TokenSetKey>`
    select k.address as contract, f.order_hash as root
    from log.fact f join log.contract k using (contract_id)
    where f.order_hash = any (${byteaArray(sets.map(({ root }) => root))}) and f.kind = ${kindLiteral("token_set_submitted")}
      and k.chain_id = ${chainId}`.execute(db);
  return new Set(rows.map(nameOfTokenSet));
}

/** SQL: whether the set that bid `o` is for holds a token id. */
export function holdsToken(tokenId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from bids.token_set_chunk s
    where s.contract_id = o.contract_id and s.root = o.criteria and s.chunk = ${chunkOf(tokenId)}
      and ${bitOf(sql`s.bits`, tokenId)} = 1 offset 0
  )`;
}

/** SQL: rows of `bids.bid`: those on a token of the contracts, and those on sets that hold it. */
export function bidsOnToken(tokenId: bigint, contractIds: readonly number[]): RawBuilder<unknown> {
  const id = sql`${tokenId}::numeric`;
  const ofContracts = sql`any (${contractIds}::int[])`;
  return sql`(
    select b.* from bids.bid b where b.contract_id = ${ofContracts} and b.token_id = ${id}
    union all
    select b.* from bids.token_set_chunk s join bids.bid b on b.contract_id = s.contract_id and b.criteria = s.root
    where s.contract_id = ${ofContracts} and s.chunk = ${chunkOf(id)} and ${bitOf(sql`s.bits`, id)} = 1
      and b.criteria is not null
  )`;
}

/** SQL: those of bids of contracts that are on a token of theirs, or on sets that hold it. */
export function pastBidsOnToken(bids: RawBuilder<unknown>, tokenId: bigint): RawBuilder<unknown> {
  const id = sql`${tokenId}::numeric`;
  return sql`(
    select o.* from ${bids} o where o.token_id = ${id} or o.criteria is not null and ${holdsToken(id)}
  )`;
}
