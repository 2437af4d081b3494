import { expect, it } from "vitest";
import { marketplaceName } from "./text.ts";

it("names marketplaces for visitors, and leaves those it does not know as they are", () => {
  expect(["native", "opensea", "magiceden", "blur"].map(marketplaceName)).toEqual([
    ...["this market", "OpenSea", "Magic Eden"],
    "blur",
  ]);
});
