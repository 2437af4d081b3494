import type { Address } from "viem";
import type { Comparison, ListSummary, Server } from "./comparison.ts";

/** A much used list, of a collection or of them all: our URL, and the same rows in GraphQL. */
type HotList = {
  path(collection: Address): string;
  field: string;
  /** What names a row; default: its token. */
  idOf?: keyof Row;
  /** Of GraphQL's own small row, and of the facts that our row tells. */
  queries: Record<Facts, string>;
};
/** What GraphQL is asked for. */
export type Facts = "small row" | "same facts";
export const facts = ["small row", "same facts"] as const;
/** Requests per second of ours, made for each request, divided by GraphQL's. */
const goals: Record<Facts, number> = { "small row": 1.2, "same facts": 2.5 };

export type HotListName = keyof typeof hotLists;
export type Servers = { ours: Server; ponder: Server; postmaster: number };

type Row = { tokenId: string; address: string };

const rows = 50;
const chain = `chainId=33139&per_page=${rows}`;

const listOf = (field: string, args: string, columns: string) =>
  `query ${args.includes("$collection") ? "($collection: String!)" : ""} {
    ${field}(${args}, limit: ${rows}) {
      items { ${columns} }
      pageInfo { hasNextPage endCursor }
      totalCount
    }
  }`;

const queriesOf = (
  field: string,
  args: string,
  [small, same]: readonly [string, string],
): Record<Facts, string> => ({
  "small row": listOf(field, args, small),
  "same facts": listOf(field, args, same),
});

const profile = "profile { address slug name }";
const metadata =
  "metadata { status name description image animation contentType tokenUri attributes updatedAt }";
const smallToken = "collection tokenId owner isBurned";
const smallSale = `id collection tokenId quantity price currency seller buyer side orderHash exchange fees
  blockNumber blockHash transactionHash logIndex timestamp`;
const ofSale =
  "saleId totalPrice usd via washRule marketplace protocol protocolVersion bundleSize bundleTotal";
const smallOrder = "hash maker status collection tokenId price counter updatedAt";
const ofPrice = "hash maker price currency usd quantity filled endTime";

const hotLists = {
  sales: {
    path: (collection) => `/v1/sales?${chain}&collection=${collection}`,
    field: "sales",
    queries: queriesOf(
      "sales",
      `where: { collection: $collection }, orderBy: "timestamp", orderDirection: "desc"`,
      [smallSale, `${smallSale} ${ofSale} ${profile}`],
    ),
  },
  tokens: {
    path: (collection) => `/v1/collections/${collection}/tokens?${chain}`,
    field: "tokens",
    queries: queriesOf("tokens", `where: { collection: $collection }, orderBy: "tokenId"`, [
      smallToken,
      `${smallToken} standard holders supply rank score ranked ${profile} ${metadata}
       listing { ${ofPrice} marketplace isBuyable fillable startTime }
       bestOffer { ${ofPrice} kind sellerNet }
       lastSale { ${smallSale} ${ofSale} }`,
    ]),
  },
  listings: {
    path: (collection) => `/v1/listings?${chain}&collection=${collection}&sort=price_asc`,
    field: "orders",
    queries: queriesOf(
      "orders",
      `where: { collection: $collection, status: "active" }, orderBy: "price"`,
      [
        smallOrder,
        `${smallOrder} marketplace isBuyable standard currency usd quantity filled fillable startTime endTime
         createdAt reason sellerNet fees ${profile}`,
      ],
    ),
  },
  collections: {
    path: () => `/v1/collections?${chain}&sort=holders`,
    field: "collections",
    idOf: "address",
    queries: queriesOf("collections", `orderBy: "place"`, [
      "address supply holders sales volume lastSaleAt",
      `address supply holders listed slug name symbol description standard image banner website twitter discord
       isVerified contracts royalty floor floorBuyable bestOffer daySales floorChange createdAt updatedAt`,
    ]),
  },
  bids: {
    path: (collection) => `/v1/bids?${chain}&collection=${collection}&sort=price_desc`,
    field: "orders",
    queries: queriesOf(
      "orders",
      `where: { collection: $collection, status: "bid active" }, orderBy: "price", orderDirection: "desc"`,
      [
        smallOrder,
        `${smallOrder} kind standard currency usd quantity filled startTime endTime createdAt reason sellerNet fees
         ${profile}`,
      ],
    ),
  },
} satisfies Record<string, HotList>;

/** The list of each of these collections in turn: 50 rows with an exact total, of our API and of Ponder's GraphQL. */
export function comparisonOf(
  [name, asked]: readonly [HotListName, Facts],
  { ours, ponder }: Servers,
  collections: readonly Address[],
): Comparison {
  const { path, field, queries, idOf = "tokenId" }: HotList = hotLists[name];
  return {
    name: `${name}${idOf === "tokenId" ? " of a collection" : ""}, ${asked}`,
    goal: goals[asked],
    ours: { ...ours, requests: collections.map((collection) => ({ path: path(collection) })) },
    ponder: {
      ...ponder,
      requests: collections.map((collection) => ({
        path: "/graphql",
        body: JSON.stringify({ query: queries[asked], variables: { collection } }),
      })),
    },
    read: { ours: (body) => readOurs(body, idOf), ponder: (body) => readGraph(body, field, idOf) },
  };
}

function readOurs(body: unknown, idOf: keyof Row): ListSummary {
  const { data, meta } = body as { data: Row[]; meta: { total: number } };
  return { total: meta.total, ids: data.map((row) => row[idOf]) };
}

function readGraph(body: unknown, field: string, idOf: keyof Row): ListSummary {
  type List = { items: Row[]; totalCount: number };
  const { data } = body as { data: Record<string, List> };
  const { items = [], totalCount = 0 } = data[field] ?? {};
  return { total: totalCount, ids: items.map((row) => row[idOf]) };
}
