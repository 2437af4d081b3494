import { expect, it } from "vitest";
import { listingMarketplaces } from "#projections/domain/marketplaces.ts";
import { marketplaceName } from "../kit/text.ts";
import type { Visit } from "../kit/visit.ts";
import type { ShownCollection } from "./head.ts";
import { filterForm, itemsFilterOf } from "./items.ts";

const filterOf = (price: string) =>
  itemsFilterOf({
    parameter: (name: string) => (name === "min_price" ? price : ""),
    entries: () => [],
  } as unknown as Visit);

it.each([
  ["1.5", "1.5"],
  [".5", "0.5"],
  ["5.", "5"],
  ["0005", "0005"],
  [`${"9".repeat(30)}.${"9".repeat(18)}`, `${"9".repeat(30)}.${"9".repeat(18)}`],
  [".", ""],
  ["1,5", ""],
  ["-1", ""],
  ["1e3", ""],
  ["9".repeat(31), ""],
  [`0.${"9".repeat(19)}`, ""],
])("takes prices as the form's pattern does: %s is %s", (given, taken) => {
  expect(filterOf(given).minPrice).toBe(taken);
  const row = { chainId: 1, slug: "punks", address: "0x" } as unknown as ShownCollection;
  const form = filterForm(row, filterOf("")).text;
  const [, pattern = ""] = /name="min_price"[^>]* pattern="([^"]+)"/.exec(form) ?? [];
  expect(new RegExp(`^(?:${pattern})$`, "v").test(given)).toBe(taken !== "");
});

it("names marketplaces for visitors, and keeps their names on the wire in the address", () => {
  const row = { chainId: 1, slug: "punks", address: "0x" } as unknown as ShownCollection;
  const { text } = filterForm(row, filterOf(""));
  for (const name of listingMarketplaces) {
    expect(text).toContain(`<option value="${name}">${marketplaceName(name)}</option>`);
  }
});
