import { expect, it } from "vitest";
import { listingMarketplaces } from "../../../../projections/domain/listing-marketplaces.ts";
import { filterForm } from "../collection/items-filter.ts";
import { marketplaceName } from "./marketplace-name.ts";

it("names marketplaces for visitors, and leaves those it does not know as they are", () => {
  expect(["native", "opensea", "magiceden", "blur"].map(marketplaceName)).toEqual([
    ...["this market", "OpenSea", "Magic Eden"],
    "blur",
  ]);
});

it("is what a visitor chooses by, while the address keeps the name on the wire", () => {
  const row = { chainId: 1, slug: "punks", address: "0x" } as never;
  const none = { sort: "", listed: "", marketplace: "", minPrice: "", maxPrice: "", traits: [] };
  const { text } = filterForm(row, none);
  for (const name of listingMarketplaces) {
    expect(text).toContain(`<option value="${name}">${marketplaceName(name)}</option>`);
  }
});
