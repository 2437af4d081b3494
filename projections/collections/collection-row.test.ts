import { describe, expect, it } from "vitest";
import { type FlatRow, nestFigures } from "./read-collection-row.ts";
import { salesColumns } from "./read-figures.ts";

type Day = { wei: bigint; priced_wei: bigint; unpriced_sales: bigint; usd_e8: bigint };

/** A row with these figures of a day, in the columns of the table. */
function rowOf(day: Day): FlatRow {
  const none = Object.fromEntries(salesColumns.map((column) => [column, 0n]));
  const figures = Object.entries(day).map(([name, value]) => [`${name}_24h`, value]);
  const royalty = ["decided", "partner", "stated", "configured"].flatMap((origin) => [
    [`${origin}Recipient`, null],
    [`${origin}Bps`, null],
  ]);
  const row = { chainId: 1, ...none, ...Object.fromEntries([...figures, ...royalty]) };
  return row as FlatRow;
}

describe("the volume in USD of a period", () => {
  it.each([
    ["without sales is 0", { wei: 0n, priced_wei: 0n, unpriced_sales: 0n, usd_e8: 0n }, 0n],
    [
      "of which all have a price is their sum",
      { wei: 9n, priced_wei: 9n, unpriced_sales: 0n, usd_e8: 5n },
      5n,
    ],
    [
      "of which one has none is unknown",
      { wei: 9n, priced_wei: 8n, unpriced_sales: 1n, usd_e8: 5n },
      null,
    ],
    [
      "of which one is in another currency is unknown",
      { wei: 9n, priced_wei: 9n, unpriced_sales: 1n, usd_e8: 5n },
      null,
    ],
    [
      "of which none has one is unknown",
      { wei: 9n, priced_wei: 0n, unpriced_sales: 2n, usd_e8: 0n },
      null,
    ],
  ])("%s", (_case, day, usdE8) => {
    const { salesFigures } = nestFigures(rowOf(day));
    expect(salesFigures["24h"]).toMatchObject({ wei: day.wei, pricedWei: day.priced_wei, usdE8 });
    expect(salesFigures["7d"].usdE8).toBe(0n);
  });
});
