import { z } from "zod";

const byPeriod = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value);
const wei = z.string().transform(BigInt);
const Named = z.looseObject({ address: z.string() });

const Collection = z.looseObject({
  address: z.string(),
  stats: z.looseObject({
    floor: z.looseObject({ priceWei: wei }).nullable(),
    floorBuyable: z.looseObject({ priceWei: wei }).nullable(),
    listed: z.number(),
    sales: byPeriod(z.number()),
    volumeWei: byPeriod(wei),
    volumeUsd: byPeriod(z.number().nullable()),
    volumeUsdShare: byPeriod(z.number()),
    washSales: byPeriod(z.number()),
    washVolumeWei: byPeriod(wei),
  }),
});
const Sale = z.looseObject({
  collection: Named,
  quantity: z.number(),
  totalWei: wei,
  usd: z.number().nullable(),
  washTrade: z.unknown(),
  timestamp: z.iso.datetime().transform((text) => Date.parse(text)),
});
const Listing = z.looseObject({
  collection: Named,
  contract: z.string(),
  tokenId: z.string(),
  priceWei: wei,
  buyableViaApi: z.boolean(),
  expiresAt: z.iso.datetime().transform((text) => Date.parse(text)),
});
export type ListedCollection = z.output<typeof Collection>;
export type ListedSale = z.output<typeof Sale>;
export type Listed = z.output<typeof Listing>;

export const periods = ["24h", "7d", "30d"] as const;

/** Lists of one position of the projections, and the time in which they were read. */
export type Snapshot = {
  collections: Map<(typeof periods)[number], ListedCollection[]>;
  sales: ListedSale[];
  listings: Listed[];
  sinceMs: number;
  untilMs: number;
};

/** Times that the lists are read until all are of one position. */
const tries = 8;

/** Collections with each period's figures, all sales and all active listings of a chain; null: the market went on meanwhile. */
export async function readSnapshot(baseUrl: string, chainId: number): Promise<Snapshot | null> {
  for (let one = 0; one < tries; one += 1) {
    const positions = new Set<string | null>();
    const walk = <Row extends z.ZodType>(path: string, row: Row) =>
      readList(`${baseUrl}${path}?chainId=${chainId}&per_page=100`, row, positions);
    const sinceMs = Date.now();
    const [sales, listings, ...byPeriods] = await Promise.all([
      walk("/v1/sales", Sale),
      walk("/v1/listings", Listing),
      ...periods.map((period) =>
        readList(
          `${baseUrl}/v1/collections?chainId=${chainId}&per_page=100&period=${period}`,
          Collection,
          positions,
        ),
      ),
    ]);
    const untilMs = Date.now();
    const collections = new Map(periods.map((period, index) => [period, byPeriods[index] ?? []]));
    if (positions.size === 1 && !positions.has(null))
      return { collections, sales, listings, sinceMs, untilMs };
  }
  return null;
}

async function readList<Row extends z.ZodType>(
  url: string,
  row: Row,
  positions: Set<string | null>,
): Promise<z.output<Row>[]> {
  const List = z.object({
    data: z.array(row),
    meta: z.looseObject({ next_cursor: z.string().nullable() }),
  });
  const rows: z.output<Row>[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const response = await fetch(cursor === "" ? url : `${url}&cursor=${cursor}`);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${url}: ${response.status} ${text}`);
    positions.add(response.headers.get("x-position"));
    const { data, meta } = List.parse(JSON.parse(text));
    rows.push(...data);
    cursor = meta.next_cursor;
  }
  return rows;
}
