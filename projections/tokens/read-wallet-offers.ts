import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { hasEnded } from "#projections/orders/read-orders.ts";
import type { Database } from "../log/database.ts";
import { bytea } from "../log/sql-values.ts";
import { bestBidsOnContract, bestBidsOnToken } from "../orders/read-bids.ts";
import {
  tokensOfWallet,
  type WalletFilter,
  type WalletToken,
  type WalletTokenCursor,
} from "./read-wallet-tokens.ts";

/** A token of a wallet, and the bid that nets the wallet most for it. */
export type TokenOffer = {
  held: WalletToken;
  orderHash: Hex;
  /** Per unit. */
  sellerNetWei: bigint;
  /** Most that the bid takes of what the wallet holds. */
  sellableUnits: bigint;
};

/** Sort key of an offer. */
export type WalletOfferCursor = WalletTokenCursor & { sellerNetWei: bigint };

/** Most tokens, of contracts with bids, that are looked at for a page: half a second. */
export const maxTokensWithBids = 50_000;

/** Null: the wallet holds more tokens than are looked at. */
type OfferPage = { total: bigint; rows: TokenOffer[] } | null;

/**
 * What a wallet could sell into now, best net first: for each of its tokens the best bid of others that it holds enough
 * units for. A bid on one token is accepted whole.
 */
export async function readWalletOffers(
  db: Database,
  filter: WalletFilter,
  slice: { limit: number; offset: number; after: WalletOfferCursor | null },
  now: Date,
): Promise<OfferPage> {
  const contractIds = await readContractsWithBids(db, filter);
  if (contractIds.length === 0) return { total: 0n, rows: [] };
  const tokens = tokensOfWallet(
    { ...filter, contractIds },
    { limit: maxTokensWithBids + 1, after: null },
  );
  const { rows } = await sql<PageRow>`
    with held as materialized (${tokens}), ${offerCtes(filter, now)},
    page as (
      select * from offer ${afterCursor(slice.after)}
      order by seller_net_wei desc, contract_id, token_id, standard limit ${slice.limit} offset ${slice.offset}
    )
    select (select count(*) from held) as held, (select count(*) from offer) as total,
           page.contract_id as "contractId", page.token_id as "tokenId", page.standard, page.units,
           page.order_hash as "orderHash", page.seller_net_wei as "sellerNetWei", page.sellable as "sellableUnits"
    from (select) once left join page on true
    order by page.seller_net_wei desc, page.contract_id, page.token_id, page.standard`.execute(db);
  const { held = 0n, total = 0n } = rows[0] ?? {};
  if (held > BigInt(maxTokensWithBids)) return null;
  return { total, rows: rows.filter(({ orderHash }) => orderHash !== null).map(offerOf) };
}

/**
 * CTEs that follow `held`: `offer`, each token with its best bid. Bids on whole contracts are looked for once by contract.
 */
function offerCtes({ wallet }: WalletFilter, now: Date): RawBuilder<unknown> {
  const ofOthers = sql`not ${hasEnded(now)} and o.maker <> ${bytea(wallet)}`;
  const isEnough = sql`
    o.standard = held.standard and (o.kind <> 'single-token' or (o.filled = 0 and o.quantity <= held.units))`;
  const onToken = bestBidsOnToken(
    {
      contractId: sql`held.contract_id`,
      tokenId: sql`held.token_id`,
      hasSets: sql`held.contract_id = any ((select contract_ids from with_sets)::int[])`,
    },
    { isWanted: sql`${ofOthers} and ${isEnough}`, limit: 1 },
  );
  const onContract = bestBidsOnContract(sql`held.contract_id`, {
    isWanted: sql`${ofOthers} and o.standard = held.standard`,
    limit: 1,
  });
  return sql`
    with_sets as materialized (
      select array(
        select held.contract_id from (select distinct contract_id from held) held
        where exists (
          select from bids.bid o where o.contract_id = held.contract_id and o.status = 'active' and o.criteria is not null
        )
      ) as contract_ids
    ),
    contract_bid as materialized (
      select held.contract_id, held.standard, o.order_hash, o.seller_net_wei, o.quantity - o.filled as remaining
      from (select distinct contract_id, standard from held) held cross join lateral (${onContract}) o
    ),
    token_bid as materialized (
      select held.*, o.order_hash, o.seller_net_wei, o.quantity - o.filled as remaining
      from held left join lateral (
        select * from (${onToken}) o order by o.seller_net_wei desc, o.token_id is null, o.position limit 1
      ) o on true
    ),
    offer as materialized (
      select t.contract_id, t.token_id, t.standard, t.units, best.order_hash, best.seller_net_wei,
             least(best.remaining, t.units) as sellable
      from token_bid t left join contract_bid c using (contract_id, standard)
      cross join lateral (
        select t.order_hash, t.seller_net_wei, t.remaining
        where c.seller_net_wei is null or t.seller_net_wei >= c.seller_net_wei
        union all
        select c.order_hash, c.seller_net_wei, c.remaining
        where t.seller_net_wei is null or t.seller_net_wei < c.seller_net_wei
      ) best
      where best.order_hash is not null
    )`;
}

type PageRow = WalletToken & Omit<TokenOffer, "held"> & { held: bigint; total: bigint };

function offerOf(row: PageRow): TokenOffer {
  const { contractId, tokenId, standard, units, orderHash, sellerNetWei, sellableUnits } = row;
  const held = { contractId, tokenId, standard, units };
  return { held, orderHash, sellerNetWei, sellableUnits };
}

/** Those of the filter's contracts that have active bids as of the last clock tick. */
async function readContractsWithBids(
  db: Database,
  { chainId, contractIds }: WalletFilter,
): Promise<number[]> {
  const ofContracts =
    contractIds === null ? sql`` : sql`and n.contract_id = any (${contractIds}::int[])`;
  const { rows } = await sql<{ contractId: number }>`
    select distinct n.contract_id as "contractId" from bids.count n
    where n.chain_id = ${chainId} and n.status = 'active' and n.rows > 0 ${ofContracts}`.execute(
    db,
  );
  return rows.map(({ contractId }) => contractId);
}

function afterCursor(after: WalletOfferCursor | null) {
  if (after === null) return sql``;
  const { sellerNetWei, contractId, tokenId, standard } = after;
  const place = sql`${contractId}::int, ${String(tokenId)}::numeric, ${standard}::int`;
  const net = sql`${String(sellerNetWei)}::numeric`;
  return sql`
    where seller_net_wei < ${net}
      or (seller_net_wei = ${net} and (contract_id, token_id, standard) > (${place}))`;
}
