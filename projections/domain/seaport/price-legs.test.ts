import { describe, expect, it } from "vitest";
import { priceLegs } from "./draft-components.ts";

const fee = { recipient: "0x000000000000000000000000000000000000fee0", bps: 100 } as const;
const creator = "0x000000000000000000000000000000000000c4ea";

describe("priceLegs", () => {
  it("rounds the service fee down and leaves the rest to the seller", () => {
    const royalty = { recipient: creator, royaltyWei: 9n } as const;

    expect(priceLegs({ unitPriceWei: 199n, fee, royalty })).toEqual({
      sellerNetWei: 189n,
      feeLegs: [
        { recipient: fee.recipient, unitWei: 1n },
        { recipient: creator, unitWei: 9n },
      ],
    });
  });

  it("leaves out a royalty of nothing and a fee that rounds to nothing", () => {
    const royalty = { recipient: creator, royaltyWei: 0n } as const;

    expect(priceLegs({ unitPriceWei: 99n, fee, royalty })).toEqual({
      sellerNetWei: 99n,
      feeLegs: [],
    });
  });
});
