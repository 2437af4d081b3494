import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import { bitOf, chunkOf } from "../engine/token-ids.ts";
import type { Database } from "../log/database.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { byteaArray } from "../log/sql-values.ts";

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
