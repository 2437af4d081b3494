import { type Figure, medianFigure } from "./figure.ts";
import type { Asker } from "./market-client.ts";
import type { Asked, Sample } from "./market-lists.ts";

const PAGE = 100;
const DEPTH = 10_000;
const WARM_UPS = 5;
const REPEATS = 60;

/** Cost of a page behind ten thousand rows, found by cursor, as a multiple of the first one's. */
export async function measureDepth(asker: Asker, sample: Sample, size: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, asked] of Object.entries(deepLists(sample))) {
    const deep = await walk(asker, asked);
    const ratios: number[] = [];
    for (let turn = 0; turn < WARM_UPS + REPEATS; turn += 1) {
      const { ms: far } = (await asker.ask(deep)).spent;
      const { ms: near } = (await asker.ask(asked)).spent;
      if (turn >= WARM_UPS) ratios.push(far / near);
    }
    figures.push(
      medianFigure(`${name}, deep of first`, ratios, { unit: "ratio", atMost: 1.2 }, size),
    );
  }
  return figures;
}

function deepLists({ described, collections }: Sample): Record<string, Asked> {
  const slug = described[0]?.slug ?? collections[0]?.slug ?? "";
  const shared = { chainId: "33139", per_page: String(PAGE) };
  const ofTokens = (query: Record<string, string>): Asked => ({
    path: "/v1/collections/{collection}/tokens",
    params: { collection: slug },
    query: { ...shared, ...query },
  });
  const listings = (query: Record<string, string>): Asked => ({
    path: "/v1/listings",
    params: {},
    query: { ...shared, sort: "price_asc", ...query },
  });
  const sales = (query: Asked["query"]): Asked => ({
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

/** The request of the page behind `DEPTH` rows. */
async function walk(asker: Asker, first: Asked): Promise<Asked> {
  let asked = first;
  for (let rows = 0; rows < DEPTH; rows += PAGE) {
    const { meta } = await asker.ask(asked);
    if (typeof meta.next_cursor !== "string")
      throw new Error(`${first.path} ends after ${rows} rows`);
    asked = { ...first, query: { ...first.query, cursor: meta.next_cursor } };
  }
  return asked;
}
