import { describe, expect, it } from "vitest";
import type { Visit } from "../kit/visit.ts";
import type { ShownCollection } from "./head.ts";
import { itemsView } from "./items.ts";

type Given = { readonly parameters: Record<string, string>; readonly next: string | null };

/** The view of a collection whose only listed token has none of the traits that are asked for. */
async function viewOf({ parameters, next }: Given): Promise<string> {
  const read = async ({ operationId }: { operationId: string }) => {
    if (operationId === "listTraits") return { data: { traitTypes: [] } };
    const data = operationId === "listListings" ? [{ contract: "0x", tokenId: "1" }] : [];
    return { data, meta: { total: 60, next_cursor: next } };
  };
  const visit = {
    ...{ chainId: 1, read, parameter: (name: string) => parameters[name] ?? "" },
    entries: () => [["Fur", "Gold"]],
  } as unknown as Visit;
  const key = { chainId: 1, slug: "punks", address: "0x" };
  const row = { ...key, stats: { floorBuyable: null } } as unknown as ShownCollection;
  return (await itemsView(visit, row)).text;
}

const restriction = "only listed items are shown, by price or by time of listing";

describe("items that are found by their listings", () => {
  const byPrice = { max_price: "5", sort: "rarity", listed: "false" };

  it("are said to be listed ones, in the order of their listings", async () => {
    expect(await viewOf({ parameters: byPrice, next: null })).toContain(restriction);
    expect(await viewOf({ parameters: { sort: "rarity" }, next: null })).not.toContain(restriction);
  });

  it("are looked for on the next page where this one has none with the traits", async () => {
    const text = "None on this page has these traits; go on to the next page.";
    const first = await viewOf({ parameters: byPrice, next: "more" });
    expect(first).toContain(text);
    expect(first).toContain('rel="next"');
    const last = await viewOf({ parameters: byPrice, next: null });
    expect(last).not.toContain(text);
    expect(last).toContain("No items like this.");
  });
});
