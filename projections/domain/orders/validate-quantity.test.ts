import { zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { publishedBounds } from "./order-params.ts";
import { orderBounds } from "./order-terms.ts";
import { validateQuantity } from "./parse-order.ts";

const units = (amount: bigint) => ({
  path: "offer[0]",
  item: {
    itemType: 3,
    token: zeroAddress,
    identifierOrCriteria: 0n,
    startAmount: amount,
    endAmount: amount,
  } as const,
});

describe("validateQuantity", () => {
  it("refuses more units than the published bound, which JSON numbers hold exactly", () => {
    const most = BigInt(publishedBounds({ bounds: orderBounds }).maxQuantity);
    expect(most).toBe(BigInt(Number.MAX_SAFE_INTEGER));
    expect(validateQuantity(units(most), orderBounds)).toBeNull();
    expect(validateQuantity(units(most + 1n), orderBounds)).toMatchObject({
      rejected: "bad_quantity",
      details: [{ field: "offer[0].startAmount", expected: `from 1 to ${most}` }],
    });
  });
});
