import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import { hasEnded, unixSeconds } from "#projections/orders/read-orders.ts";
import type { ListingMarketplace } from "../domain/marketplaces.ts";
import type { ContractMetadata } from "../domain/metadata/contract-metadata.ts";
import { applicableRoyalty, type Royalty } from "../domain/royalty.ts";
import { documentStart } from "../metadata/read-media.ts";
import {
  contractsOfCollection,
  orderFigures,
  type Period,
  periods,
  salesColumns,
} from "./read-figures.ts";
import { contractRoyalty, operatorRoyalty, partnerRoyalty } from "./read-royalties.ts";

/** The collection's cheapest listing, as stored in `collection_stats`. */
export type FloorListing = {
  priceWei: string;
  orderHash: Hex;
  /** Which of the collection's contracts. */
  contract: Hex;
  tokenId: string;
  marketplace: ListingMarketplace;
  isBuyable: boolean;
  /** Address of the wrapped native currency; null: the native one. */
  currency: Hex | null;
};

/** The collection bid that nets the seller most, as stored in `collection_stats`. */
export type BestOffer = { priceWei: string; sellerNetWei: string; orderHash: Hex };

/**
 * Sales in any currency; wei in the chain's currency; `pricedWei` of those with a known price; USD of these in 10⁻⁸, null
 * where a sale in any currency has none. Wash trades are counted in these, and their part is apart.
 */
type SalesFigures = {
  sales: bigint;
  wei: bigint;
  pricedWei: bigint;
  usdE8: bigint | null;
  washSales: bigint;
  washWei: bigint;
};

/** A collection with its primary contract's metadata; figures are over all its contracts. */
export type CollectionRow = Omit<ContractMetadata, "name" | "issue"> & {
  collectionId: number;
  chainId: number;
  address: Hex;
  slug: string | null;
  name: string | null;
  symbol: string | null;
  standard: 721 | 1155 | null;
  verified: boolean;
  createdAt: Date | null;
  updatedAt: Date | null;
  contracts: { address: Hex; standard: 721 | 1155 | null }[];
  /** Of the document with its metadata, if it was fetched; with the time of the fact that is shown. */
  metadataStatus: "ok" | "failed" | null;
  metadataIssue: string | null;
  metadataAt: Date | null;
  /** Of the primary contract. */
  royalty: { recipient: Hex; bps: number; source: Royalty["source"] } | null;
  supply: bigint;
  holders: bigint;
  listed: bigint;
  floor: FloorListing | null;
  floorBuyable: FloorListing | null;
  bestOffer: BestOffer | null;
  salesFigures: Record<Period | "all", SalesFigures>;
  /** Change of the floor, in millionths. */
  change: Record<Period, bigint | null>;
  /** When the first of its orders ends or begins, unix seconds: until then the row is the same in the same data. */
  nextChangeAt: bigint | null;
};

export type FlatSalesFigures = Record<(typeof salesColumns)[number], bigint>;
type FlatChange = Record<`change_${Period}`, bigint | null>;
/** The row as selected. */
export type FlatRow = Omit<CollectionRow, "traded" | "change" | "royalty"> &
  FlatSalesFigures &
  FlatChange &
  FlatRoyalties;

type RoyaltyOrigin = "decided" | "partner" | "stated" | "configured";
type FlatRoyalties = Record<`${RoyaltyOrigin}Recipient`, Hex | null> &
  Record<`${RoyaltyOrigin}Bps`, number | null>;

export function nestFigures(row: FlatRow): CollectionRow {
  return Object.assign(row, {
    royalty: royaltyOf(row),
    salesFigures: nestSalesFigures(row),
    change: { "24h": row.change_24h, "7d": row.change_7d, "30d": row.change_30d },
  });
}

/** The one that orders are asked for, as a share of the price: `applicableRoyalty`. */
function royaltyOf(row: FlatRow): CollectionRow["royalty"] {
  const share = (origin: RoyaltyOrigin) => {
    const [recipient, bps] = [row[`${origin}Recipient`], row[`${origin}Bps`]];
    return recipient === null || bps === null ? null : { recipient, bps };
  };
  const stated = share("stated");
  const royalty = applicableRoyalty(row.chainId as ChainId, 10_000n, {
    operator: share("decided"),
    partner: share("partner"),
    erc2981: stated && { recipient: stated.recipient, royaltyWei: BigInt(stated.bps) },
    configured: share("configured"),
  });
  if (royalty === null) return null;
  const { recipient, royaltyWei, source } = royalty;
  return { recipient, bps: Number(royaltyWei), source };
}

export const nestSalesFigures = (row: FlatSalesFigures): CollectionRow["salesFigures"] => ({
  "24h": salesFiguresOf(row, "24h"),
  "7d": salesFiguresOf(row, "7d"),
  "30d": salesFiguresOf(row, "30d"),
  all: salesFiguresOf(row, "all"),
});

function salesFiguresOf(row: FlatSalesFigures, period: Period | "all"): SalesFigures {
  const [sales, wei] = [row[`sales_${period}`], row[`wei_${period}`]];
  const isUnknown = row[`unpriced_sales_${period}`] > 0n;
  return {
    sales,
    wei,
    pricedWei: row[`priced_wei_${period}`],
    usdE8: isUnknown ? null : row[`usd_e8_${period}`],
    washSales: row[`wash_sales_${period}`],
    washWei: row[`wash_wei_${period}`],
  };
}

/**
 * What of a collection is wanted: metadata of its primary contract, royalty, list of contracts, floor and best offer. The
 * rest is null, and not looked up. Without `documents` only the beginnings of those that are stored inline.
 */
export type CollectionPart = "documents" | "metadata" | "royalty" | "contracts" | "orders";
export type CollectionParts = ReadonlySet<CollectionPart>;
export const allCollectionParts: CollectionParts = new Set([
  "documents",
  "metadata",
  "royalty",
  "contracts",
  "orders",
]);
/** What lists show. */
export const listedCollectionParts: CollectionParts = new Set(
  [...allCollectionParts].filter((part) => part !== "documents"),
);

/** SQL: the columns of `FlatRow`, of a collection's figures `f` with `collectionJoins`. */
export function collectionRowColumns(now: Date, parts: CollectionParts): RawBuilder<unknown> {
  const figures = [...salesColumns, ...periods.map((period) => `change_${period}`)];
  const current = (column: string) =>
    sql`case when ${mayHaveChanged(now)} then live.${sql.ref(column)} else f.${sql.ref(column)} end`;
  const uri = parts.has("documents") ? (column: RawBuilder<unknown>) => column : documentStart;
  return sql`
    f.next_change_at as "nextChangeAt", f.collection_id as "collectionId", f.chain_id as "chainId", k.address, c.slug, c.name,
    c.symbol, c.standard, f.verified, c.created_at as "createdAt", c.updated_at as "updatedAt", coalesce(parts.contracts, '[]'::jsonb) as contracts,
    md.description, ${uri(sql`md.image`)} as image, ${uri(sql`md.banner`)} as banner, md.website, md.twitter, md.discord,
    md.status as "metadataStatus", md.issue as "metadataIssue", md.updated_at as "metadataAt",
    decided.recipient as "decidedRecipient", decided.bps as "decidedBps",
    due.recipient as "partnerRecipient", due.bps as "partnerBps",
    stated.recipient as "statedRecipient", stated.bps as "statedBps",
    c.royalty_recipient as "configuredRecipient", c.royalty_bps as "configuredBps", f.supply, f.holders,
    f.listed - coalesce(ended.tokens, 0) as listed, ${current("floor")} as floor,
    ${current("floor_buyable")} as "floorBuyable", ${current("best_offer")} as "bestOffer",
    ${sql.join(figures.map((figure) => sql`f.${sql.id(figure)}`))}`;
}

/** Figures are as of the last clock tick: where an order of collection `f` may have ended since, they are read again. */
const mayHaveChanged = (now: Date) => sql`f.next_change_at <= ${unixSeconds(now)}::bigint`;

export function collectionRowJoins(now: Date, parts: CollectionParts): RawBuilder<unknown> {
  const ifWanted = (part: CollectionPart) => (parts.has(part) ? sql`true` : sql`false`);
  return sql`
    left join collections.collection c on c.collection_id = f.collection_id
    left join log.contract k on k.contract_id = f.collection_id
    left join metadata.contract md on ${ifWanted("metadata")} and md.contract_id = f.collection_id
    left join lateral (${operatorRoyalty(sql`f.collection_id`)}) decided on ${ifWanted("royalty")}
    left join lateral (${partnerRoyalty(sql`f.collection_id`)}) due on ${ifWanted("royalty")}
    left join lateral (${contractRoyalty(sql`f.collection_id`)}) stated on ${ifWanted("royalty")}
    left join lateral (
      select jsonb_agg(jsonb_build_object('address', '0x' || encode(a.address, 'hex'), 'standard', m.standard)
                       order by m.contract_id <> f.collection_id, m.contract_id) as contracts
      from collections.contract m join log.contract a using (contract_id) where m.collection_id = f.collection_id
    ) parts on ${ifWanted("contracts")}
    left join lateral (${whereMayHaveChanged(orderFigures(contractsOfCollection, sql`not ${hasEnded(now)}`), now)}) live on ${ifWanted("orders")}
    left join lateral (${whereMayHaveChanged(endedTokens(now), now)}) ended on ${ifWanted("orders")}`;
}

/** Reads only where something may have ended: a join condition would be evaluated after the read. */
function whereMayHaveChanged(read: RawBuilder<unknown>, now: Date): RawBuilder<unknown> {
  return sql`
    select figures.* from (select where ${mayHaveChanged(now)} offset 0) outdated cross join lateral (${read} offset 0) figures`;
}

/** Number of tokens of collection `f` that are counted as listed although their last listing has ended. */
function endedTokens(now: Date): RawBuilder<unknown> {
  return sql`
    select count(*) as tokens
    from collection_stats.contract n join collection_stats.token t using (contract_id)
    where n.collection_id = f.collection_id and t.is_listed and t.next_change_at <= ${unixSeconds(now)}::bigint
      and not exists (
        select from listings.listing o
        where o.contract_id = t.contract_id and o.token_id = t.token_id and o.status = 'active'
          and not ${hasEnded(now)}
      )`;
}
