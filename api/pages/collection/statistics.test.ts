import { describe, expect, it } from "vitest";
import type { Visit } from "../kit/visit.ts";
import { type ShownCollection, statistics } from "./head.ts";
import { traitsView } from "./traits.ts";

const perPeriod = <T>(value: T) => ({ "24h": value, "7d": value, "30d": value, all: value });

/** Two of four token ids are listed and one has the trait; of ERC-1155, the four have 4,000 units. */
const collectionOf = (standard: "erc721" | "erc1155") =>
  ({
    ...{ chainId: 1, slug: "editions", address: "0x", royalty: null },
    ...{ standard, contracts: [{ address: "0x", standard }] },
    stats: {
      ...{ floor: null, floorBuyable: null, bestOffer: null, listed: 2, holders: 1 },
      ...{ supply: standard === "erc1155" ? 4_000 : 4, supplyExact: "4000" },
      ...{ volumeWei: perPeriod("0"), volumeUsd: perPeriod(0), sales: perPeriod(0) },
      ...{ washSales: perPeriod(0), washVolumeWei: perPeriod("0"), change: perPeriod(0) },
    },
  }) as unknown as ShownCollection;

async function traitsOf(row: ShownCollection): Promise<string> {
  const values = [{ value: "Gold", count: 1, listed: 0, floorWei: null, usd: null, askId: null }];
  const read = async () => ({
    data: { traitTypes: [{ type: "Fur", values, truncated: false }] },
    meta: {},
  });
  const visit = { chainId: 1, read, parameter: () => "" } as unknown as Visit;
  return (await traitsView(visit, row)).text;
}

describe("the share of a supply", () => {
  it("is of token ids where each is one of the supply", async () => {
    const row = collectionOf("erc721");
    expect(statistics(row).text).toContain("50% of the supply");
    expect(await traitsOf(row)).toContain("25%");
  });

  it("is not told where the supply is of units", async () => {
    const row = collectionOf("erc1155");
    expect(statistics(row).text).not.toContain("of the supply");
    expect(await traitsOf(row)).not.toMatch(/\d%/);
  });
});

it("shows no royalty, and no source of one, where there is none", () => {
  const royalty = (source: string) => ({ recipient: null, bps: 250, source });
  const shown = (source: string) =>
    statistics({ ...collectionOf("erc721"), royalty: royalty(source) } as ShownCollection).text;
  expect(shown("erc2981")).toContain("<dd>2.5%</dd>");
  expect(shown("erc2981")).toContain("source: erc2981");
  expect(shown("none")).not.toMatch(/%<\/dd>|source:/);
});
