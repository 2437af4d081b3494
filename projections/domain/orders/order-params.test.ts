import { hashTypedData } from "viem";
import { describe, expect, it } from "vitest";
import { orderHash, signingDigest } from "../seaport/order-hash.ts";
import { fixedParts, publishedBounds, saltPrefix, signingParams } from "./order-params.ts";
import { maker, orders, terms } from "./orders.fixture.ts";

describe("order parameters", () => {
  it("are enough to sign the order that the exchange verifies", () => {
    const { startTime, endTime, salt, counter } = orders.listing;
    const { header, offer, consideration } = JSON.parse(JSON.stringify(fixedParts(orders.listing)));
    const own = { offerer: maker, startTime, endTime, salt, counter };
    const params = signingParams(33139);

    expect(hashTypedData({ ...params, message: { ...header, offer, consideration, ...own } })).toBe(
      signingDigest(orderHash(orders.listing), params.domain),
    );
  });

  it("name the wei of the bounds in decimal strings", () => {
    expect(publishedBounds(terms)).toMatchObject({
      minPriceWei: "10000",
      maxPriceWei: `1${"0".repeat(27)}`,
      minDurationSeconds: 600,
    });
  });

  it("derive the salt's prefix from the market's name, as marketplaces do", () => {
    expect(saltPrefix("opensea.io")).toBe("0x360c6ebe");
  });
});
