import { expect, it } from "vitest";
import { marketplaceName, plainText } from "./text.ts";

it.each([
  ["\u200b", "\u200c", "\u200d", "\u00ad", "\u034f"],
  ["\ufe0f", "\u{e0041}", "\u3164", "\u180e", "\u2060"],
])("shows no name that differs by what is not shown, and whole emoji", (...unseen) => {
  for (const one of unseen) expect(plainText(`Lo${one}cal`)).toBe("Local");
  for (const emoji of ["👩‍💻", "❤️", "👨🏽‍🚀"]) expect(plainText(emoji)).toBe(emoji);
});

it("names marketplaces for visitors, and leaves those it does not know as they are", () => {
  expect(["native", "opensea", "magiceden", "blur"].map(marketplaceName)).toEqual([
    ...["this market", "OpenSea", "Magic Eden"],
    "blur",
  ]);
});
