import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFeed, publicFeeds } from "./exchanges.ts";
import { agreeOnPrice, displayPrice, parsePrice } from "./price.ts";

const quotes = (...prices: bigint[]) =>
  prices.map((priceE8, index) => ({ name: `exchange ${index}`, priceE8 }));
const agreed = (...prices: bigint[]) => {
  const found = agreeOnPrice(quotes(...prices));
  return found && [found.priceE8, found.sources.map(({ priceE8 }) => priceE8)];
};

describe("the price that exchanges agree on", () => {
  it.each([
    { quoted: [100n, 102n, 101n], price: [101n, [100n, 102n, 101n]] },
    { quoted: [100n, 103n], price: [101n, [100n, 103n]] },
    { quoted: [100n, 101n, 300n], price: [100n, [100n, 101n]] },
    { quoted: [100n, 102n, 104n, 1n], price: [102n, [100n, 102n, 104n]] },
    { quoted: [1_000n, 1_000n, 1_050n], price: [1_000n, [1_000n, 1_000n, 1_050n]] },
    { quoted: [1_000n, 1_000n, 1_051n], price: [1_000n, [1_000n, 1_000n]] },
  ])("of $quoted is $price", ({ quoted, price }) => {
    expect(agreed(...quoted)).toEqual(price);
  });

  it.each([[], [100n], [100n, 200n], [100n, 200n, 300n], [100n, 100n, 200n, 200n]])(
    "is none where fewer than two agree: %s %s %s %s",
    (...quoted: bigint[]) => {
      expect(agreed(...quoted)).toBeNull();
    },
  );

  it("lies between those who agree and moves with no order of theirs", () => {
    const prices = fc.array(fc.bigInt(90n, 110n), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(prices, (quoted) => {
        const found = agreeOnPrice(quotes(...quoted));
        expect(agreeOnPrice(quotes(...quoted.toReversed()))?.priceE8).toBe(found?.priceE8);
        if (found === null) return;
        const kept = found.sources.map(({ priceE8 }) => priceE8);
        expect(kept.length).toBeGreaterThanOrEqual(2);
        expect(kept.some((price) => price <= found.priceE8)).toBe(true);
        expect(kept.some((price) => price >= found.priceE8)).toBe(true);
      }),
    );
  });
});

describe("a price", () => {
  it.each([
    ["2345.12", 234_512_000_000n],
    ["0.61280000", 61_280_000n],
    [3001.07, 300_107_000_000n],
    ["1", 100_000_000n],
  ])("%s is read exactly", (written, price) => {
    expect(parsePrice(written)).toBe(price);
  });

  it.each([
    "",
    "-1",
    "0",
    "0.000000001",
    "1e3",
    "NaN",
    "1,000",
    "99999999999",
    "1234567890123",
    null,
    undefined,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    {},
    ["1"],
  ])("%s is none", (written) => {
    expect(parsePrice(written)).toBeUndefined();
  });

  it("is shown as the number that prints as the decimal it is", () => {
    const prices = fc.bigInt(1n, 10n ** 15n);
    fc.assert(
      fc.property(prices, (price) => {
        const digits = `${price}`.padStart(9, "0");
        const decimal = `${digits.slice(0, -8)}.${digits.slice(-8)}`;
        expect(displayPrice(price).toFixed(8)).toBe(decimal);
        expect(parsePrice(displayPrice(price).toFixed(8))).toBe(price);
      }),
    );
  });
});

describe("a feed of the configuration", () => {
  it("is an exchange's name and its address", () => {
    expect(parseFeed("kraken=https://mirror.example.com/kraken/")).toEqual({
      name: "kraken",
      url: "https://mirror.example.com/kraken",
    });
    for (const feed of publicFeeds) expect(parseFeed(`${feed.name}=${feed.url}`)).toEqual(feed);
  });

  it.each([
    "https://api.kraken.com",
    "mtgox=https://api.mtgox.com",
    "kraken=ftp://api.kraken.com",
    "kraken=api.kraken.com",
    "kraken=https://api.kraken.com?key=1",
    "toString=https://api.kraken.com",
    "",
  ])("is none where it is %s", (text) => {
    expect(parseFeed(text)).toBeUndefined();
  });
});
