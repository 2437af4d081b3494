import {
  type Listed,
  type ListedCollection,
  type ListedSale,
  periods,
  type Snapshot,
} from "../http/market-snapshot.ts";

const hourMs = 3_600_000;
const lengthMs = { "24h": 24 * hourMs, "7d": 168 * hourMs, "30d": 720 * hourMs };
type Period = keyof typeof lengthMs;

/** Minutes that the periods' clock may be behind: it ticks once a minute, and a tick takes its time. */
const clockBehind = 2;
/** What lists of one position may differ in: the time at which each was read. */
const clockMs = 1_500;

/** Figures of collections that the sales and listings read beside them do not give, in words. */
export function wrongFigures(snapshot: Snapshot): string[] {
  return periods.flatMap((period) =>
    (snapshot.collections.get(period) ?? []).flatMap((collection) => [
      ...wrongSales(collection, period, snapshot),
      ...(period === "24h" ? wrongListings(collection, snapshot) : []),
    ]),
  );
}

function wrongSales(collection: ListedCollection, period: Period, snapshot: Snapshot): string[] {
  const { address, stats } = collection;
  const shown = {
    sales: stats.sales[period],
    volumeWei: stats.volumeWei[period],
    washSales: stats.washSales[period],
    washVolumeWei: stats.washVolumeWei[period],
    volumeUsd: stats.volumeUsd[period],
    volumeUsdShare: stats.volumeUsdShare[period],
  };
  const sold = snapshot.sales.filter((sale) => sale.collection.address === address);
  const minute = Math.floor(snapshot.untilMs / 60_000) * 60_000;
  const clocks = Array.from({ length: clockBehind + 1 }, (_, behind) => minute - behind * 60_000);
  const expected = clocks.map((clock) => figuresOf(sold, clock - lengthMs[period]));
  if (expected.some((figures) => areEqual(shown, figures))) return [];
  return [`${address} ${period}: ${inWords(shown)}, by its sales ${inWords(expected[0])}`];
}

type Figures = ReturnType<typeof figuresOf>;

function figuresOf(sales: readonly ListedSale[], sinceMs: number) {
  const counted = sales.filter(({ timestamp }) => timestamp >= sinceMs);
  const weiOf = (some: readonly ListedSale[]) =>
    some.reduce((sum, { totalWei }) => sum + totalWei, 0n);
  const washed = counted.filter(({ washTrade }) => washTrade !== null);
  const priced = counted.filter(({ usd }) => usd !== null);
  const usd = priced.reduce((sum, one) => sum + (one.usd ?? 0) * one.quantity, 0);
  const volumeWei = weiOf(counted);
  return {
    sales: counted.length,
    volumeWei,
    washSales: washed.length,
    washVolumeWei: weiOf(washed),
    volumeUsd: priced.length === counted.length ? usd : null,
    volumeUsdShare: volumeWei === 0n ? 1 : Number(weiOf(priced)) / Number(volumeWei),
  };
}

type Shown = { [Name in keyof Figures]: Figures[Name] | undefined };

function areEqual(shown: Shown, expected: Figures): boolean {
  const { volumeUsd, volumeUsdShare, ...exact } = expected;
  const isClose = (one: number | null | undefined, other: number | null) =>
    one === null || other === null || one === undefined
      ? one === other
      : Math.abs(one - other) <= 0.01 * (expected.sales + 1) + 0.001 * Math.abs(other);
  return (
    Object.entries(exact).every(([name, value]) => shown[name as keyof Shown] === value) &&
    isClose(shown.volumeUsd, volumeUsd) &&
    Math.abs((shown.volumeUsdShare ?? -1) - volumeUsdShare) < 0.01
  );
}

function wrongListings({ address, stats }: ListedCollection, snapshot: Snapshot): string[] {
  const own = snapshot.listings.filter(({ collection }) => collection.address === address);
  const isEnding = ({ expiresAt }: Listed) =>
    expiresAt > snapshot.sinceMs - clockMs && expiresAt < snapshot.untilMs + clockMs;
  // One of them may be in one answer and no more in the next.
  if (own.some(isEnding)) return [];
  const cheapest = (some: readonly Listed[]) =>
    some.map(({ priceWei }) => priceWei).toSorted((one, other) => (one < other ? -1 : 1))[0];
  const expected = {
    listed: new Set(own.map(({ contract, tokenId }) => `${contract} ${tokenId}`)).size,
    floor: cheapest(own),
    floorBuyable: cheapest(own.filter(({ buyableViaApi }) => buyableViaApi)),
  };
  const shown = {
    listed: stats.listed,
    floor: stats.floor?.priceWei,
    floorBuyable: stats.floorBuyable?.priceWei,
  };
  const isRight = inWords(shown) === inWords(expected);
  return isRight ? [] : [`${address}: ${inWords(shown)}, by its listings ${inWords(expected)}`];
}

const inWords = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `${one}` : (one ?? null)));
