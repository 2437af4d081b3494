import type { Address } from "viem";
import type { Comparison, ListSummary, Server } from "./comparison.ts";

/** A much used list of a collection: our URL, and the same rows in GraphQL. */
type HotList = { path(collection: Address): string; field: string; query: string };

export type HotListName = keyof typeof hotLists;
export type Servers = { ours: Server; ponder: Server; postmaster: number };

const rows = 50;
const chain = `chainId=33139&per_page=${rows}`;

const listOf = (field: string, args: string, columns: string) =>
  `query ($collection: String!) {
    ${field}(${args}, limit: ${rows}) {
      items { ${columns} }
      pageInfo { hasNextPage endCursor }
      totalCount
    }
  }`;

const hotLists = {
  sales: {
    path: (collection) => `/v1/sales?${chain}&collection=${collection}`,
    field: "sales",
    query: listOf(
      "sales",
      `where: { collection: $collection }, orderBy: "timestamp", orderDirection: "desc"`,
      `id collection tokenId quantity price currency seller buyer side orderHash exchange fees
       blockNumber blockHash transactionHash logIndex timestamp`,
    ),
  },
  tokens: {
    path: (collection) => `/v1/collections/${collection}/tokens?${chain}`,
    field: "tokens",
    query: listOf(
      "tokens",
      `where: { collection: $collection }, orderBy: "tokenId"`,
      "collection tokenId owner isBurned",
    ),
  },
  listings: {
    path: (collection) => `/v1/listings?${chain}&collection=${collection}&sort=price_asc`,
    field: "orders",
    query: listOf(
      "orders",
      `where: { collection: $collection, status: "active" }, orderBy: "price"`,
      "hash maker status collection tokenId price counter updatedAt",
    ),
  },
} satisfies Record<string, HotList>;

/** The list of each of these collections in turn: 50 rows with an exact total, of our API and of Ponder's GraphQL. */
export function comparisonOf(
  name: HotListName,
  { ours, ponder }: Servers,
  collections: readonly Address[],
): Comparison {
  const { path, field, query }: HotList = hotLists[name];
  return {
    name: `${name} of a collection`,
    ours: { ...ours, requests: collections.map((collection) => ({ path: path(collection) })) },
    ponder: {
      ...ponder,
      requests: collections.map((collection) => ({
        path: "/graphql",
        body: JSON.stringify({ query, variables: { collection } }),
      })),
    },
    read: { ours: readOurs, ponder: (body) => readGraph(body, field) },
  };
}

function readOurs(body: unknown): ListSummary {
  const { data, meta } = body as { data: { tokenId: string }[]; meta: { total: number } };
  return { total: meta.total, tokenIds: data.map(({ tokenId }) => tokenId) };
}

function readGraph(body: unknown, field: string): ListSummary {
  type List = { items: { tokenId: string }[]; totalCount: number };
  const { data } = body as { data: Record<string, List> };
  const { items = [], totalCount = 0 } = data[field] ?? {};
  return { total: totalCount, tokenIds: items.map(({ tokenId }) => tokenId) };
}
