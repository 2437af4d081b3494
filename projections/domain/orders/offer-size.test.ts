import fc from "fast-check";
import { parseEther } from "viem";
import { describe, expect, it } from "vitest";
import { isSerious, offerSize, spendableWei } from "./order-quotas.ts";

const wei = fc.bigInt({ min: 0n, max: 10n ** 24n });

describe("what an offer can really spend", () => {
  it("adds up to the balance at most, however many offers share it", () => {
    fc.assert(
      fc.property(fc.array(wei, { minLength: 1, maxLength: 50 }), wei, (offers, balanceWei) => {
        const totalWei = offers.reduce((sum, one) => sum + one, 0n);
        const spent = offers
          .map((offerWei) =>
            spendableWei({ offerWei, balanceWei, openBidsWei: totalWei - offerWei }),
          )
          .reduce((sum, one) => sum + one, 0n);
        expect(spent <= balanceWei).toBe(true);
      }),
    );
  });
});

describe("the size of an offer", () => {
  const alone = (offerWei: bigint) => ({ offerWei, balanceWei: offerWei, openBidsWei: 0n });
  const sizeOf = (text: string, floor: string | null = null) => {
    const offerWei = parseEther(text);
    return offerSize(offerWei, floor === null ? null : parseEther(floor), alone(offerWei));
  };

  it("is that of its order of magnitude, the smallest together", () => {
    expect(sizeOf("0.00001")).toBe(sizeOf("0.000000000000001"));
    expect(sizeOf("0.02")).toBe(sizeOf("0.05"));
    expect(new Set(["0.0005", "0.005", "0.05", "0.5", "5"].map((text) => sizeOf(text))).size).toBe(
      5,
    );
  });

  it("is another one far below the cheapest listing", () => {
    expect(sizeOf("0.05", "1")).not.toBe(sizeOf("0.05", "0.2"));
  });

  it("shrinks with each further promise of the same balance", () => {
    const promise = { offerWei: parseEther("1"), balanceWei: parseEther("1") };
    const first = offerSize(promise.offerWei, null, { ...promise, openBidsWei: 0n });
    const hundredth = offerSize(promise.offerWei, null, {
      ...promise,
      openBidsWei: parseEther("99"),
    });
    expect(hundredth < first).toBe(true);
  });

  it("needs a listing nearby, and a balance, to be taken for serious", () => {
    const offerWei = parseEther("0.5");
    const poor = { offerWei, balanceWei: offerWei, openBidsWei: parseEther("50") };
    expect([
      isSerious(offerWei, parseEther("1"), alone(offerWei)),
      isSerious(offerWei, parseEther("6"), alone(offerWei)),
      isSerious(offerWei, null, alone(offerWei)),
      isSerious(offerWei, parseEther("1"), poor),
    ]).toEqual([true, false, false, false]);
  });
});
