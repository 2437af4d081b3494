import { sql } from "kysely";
import type { Hex } from "viem";
import type { ListingMarketplace } from "../domain/marketplaces.ts";
import { assertFoldable } from "../engine/fold-budget.ts";
import type { Database } from "../log/database.ts";
import type { WalletTokenCursor } from "../tokens/read-wallet-tokens.ts";
import type { BookSubject, Moment } from "./moment.ts";
import { activeThen, pastListings } from "./read-past-listings.ts";

type ListingKey = { readonly marketplace: ListingMarketplace; readonly orderHash: Hex };

/** A token of which other listings were active at the one moment than at the other. */
export type RelistedToken = WalletTokenCursor & {
  readonly contract: Hex;
  /** Active at the later moment alone, by hash. */
  readonly listed: readonly ListingKey[];
  /** Active at the earlier moment alone. */
  readonly delisted: readonly ListingKey[];
};

/** Tokens of contracts, or of a maker's listings, whose active listings differ between two moments, in order. Throws `TooMuchToFold`. */
export async function readChangedListings(
  db: Database,
  subject: BookSubject,
  { from, to }: { readonly from: Moment; readonly to: Moment },
  { limit, after }: { limit: number; after: WalletTokenCursor | null },
): Promise<RelistedToken[]> {
  const wanted = { ...subject, marketplace: null };
  const behind =
    after === null
      ? sql`true`
      : sql`(contract_id, token_id, standard) > (${after.contractId}::int, ${`${after.tokenId}`}::numeric, ${after.standard}::int)`;
  const keys = (isListed: boolean) => sql`
    coalesce(jsonb_agg(jsonb_build_object('marketplace', marketplace, 'orderHash', '0x' || encode(order_hash, 'hex'))
      order by order_hash) filter (where is_listed = ${isListed}), '[]')`;
  const { rows } = await sql<RelistedToken & { folded: number; contractId: number | null }>`
    with before as materialized (${activeThen(pastListings(wanted, from), from)}),
    later as materialized (${activeThen(pastListings(wanted, to), to)}),
    changed as (
      select l.*, true as is_listed from later l
      where order_hash is not null and order_hash not in (select order_hash from before where order_hash is not null)
      union all
      select b.*, false from before b
      where order_hash is not null and order_hash not in (select order_hash from later where order_hash is not null)
    )
    select counted.folded, k.address as contract, one.*
    from (select greatest((select max(folded) from before), (select max(folded) from later)) as folded) counted
    left join (
      select contract_id as "contractId", token_id as "tokenId", standard, ${keys(true)} as listed, ${keys(false)} as delisted
      from changed where ${behind}
      group by contract_id, token_id, standard order by contract_id, token_id, standard limit ${limit}
    ) one on true
    left join log.contract k on k.contract_id = one."contractId"
    order by one."contractId", one."tokenId", one.standard`.execute(db);
  assertFoldable(rows[0]?.folded ?? 0);
  return rows.filter(({ contractId }) => contractId !== null);
}
