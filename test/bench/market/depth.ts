import { type Figure, medianFigure } from "../figure.ts";
import type { RouteClient } from "./client.ts";
import type { ListRequest, Sample } from "./lists.ts";

const PAGE = 100;
const DEPTH = 10_000;
const WARM_UPS = 5;
const REPEATS = 60;

/** Cost of a page after ten thousand rows, reached by cursor, relative to the first page. */
export async function measureDepth(
  client: RouteClient,
  sample: Sample,
  size: string,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, request] of Object.entries(deepLists(sample))) {
    const deep = await requestAtDepth(client, request);
    const ratios: number[] = [];
    for (let turn = 0; turn < WARM_UPS + REPEATS; turn += 1) {
      const { ms: far } = (await client.call(deep)).spent;
      const { ms: near } = (await client.call(request)).spent;
      if (turn >= WARM_UPS) ratios.push(far / near);
    }
    figures.push(
      medianFigure(`${name}, deep of first`, ratios, { unit: "ratio", atMost: 1.2 }, size),
    );
  }
  return figures;
}

function deepLists({ described, collections }: Sample): Record<string, ListRequest> {
  const slug = described[0]?.slug ?? collections[0]?.slug ?? "";
  const shared = { chainId: "33139", per_page: String(PAGE) };
  const ofTokens = (query: Record<string, string>): ListRequest => ({
    path: "/v1/collections/{collection}/tokens",
    params: { collection: slug },
    query: { ...shared, ...query },
  });
  const listings = (query: Record<string, string>): ListRequest => ({
    path: "/v1/listings",
    params: {},
    query: { ...shared, sort: "price_asc", ...query },
  });
  const sales = (query: ListRequest["query"]): ListRequest => ({
    path: "/v1/sales",
    params: {},
    query: { ...shared, ...query },
  });
  const commonest = { Background: "Background 0", Fur: "Fur 0" };
  return {
    "listings of a collection": listings({ collection: slug }),
    "listings of the chain": listings({}),
    "tokens by token_id": ofTokens({ sort: "token_id" }),
    "tokens by price_asc, listed": ofTokens({ sort: "price_asc", listed: "true" }),
    "tokens by rarity": ofTokens({ sort: "rarity" }),
    "tokens by rarity, listed": ofTokens({ sort: "rarity", listed: "true" }),
    "sales of a collection": sales({ collection: slug }),
    "sales of the chain": sales({}),
    "sales with two traits": sales({ collection: slug, traits: commonest }),
  };
}

/** The request of the page after `DEPTH` rows. */
async function requestAtDepth(client: RouteClient, first: ListRequest): Promise<ListRequest> {
  let request = first;
  for (let rows = 0; rows < DEPTH; rows += PAGE) {
    const { meta } = await client.call(request);
    if (typeof meta.next_cursor !== "string")
      throw new Error(`${first.path} ends after ${rows} rows`);
    request = { ...first, query: { ...first.query, cursor: meta.next_cursor } };
  }
  return request;
}
