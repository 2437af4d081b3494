import { describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { now, orders, stranger } from "#projections/domain/orders/orders.fixture.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { parsePartnerListing } from "./parse-listing.ts";

const [payment] = orders.listing.consideration;
if (payment === undefined) throw new Error("a listing is paid for");

function found(components: OrderComponents) {
  const shown = { marketplace: "opensea", chainId: 1, signature: null } as const;
  const order = {
    ...shown,
    orderHash: orderHash(components),
    exchange: seaportAddresses["1.6"],
    components,
  };
  return parsePartnerListing(order, { creators: [], now: new Date(Number(now) * 1_000) });
}

const paying = (...wei: readonly bigint[]): OrderComponents => ({
  ...orders.listing,
  consideration: wei.map((amount) => ({
    ...payment,
    startAmount: amount,
    endAmount: amount,
    recipient: stranger,
  })),
});

describe("a partner's order", () => {
  it("is a listing with the sum of its payments for a price", () => {
    expect(found(paying(7n, 2n, 1n))).toMatchObject({ unitPriceWei: 10n, sellerNetWei: 0n });
  });

  it("is none with more payments, or larger ones, than a row can keep", () => {
    expect(found(paying(...Array<bigint>(25).fill(1n)))).toBe("too_many_payments");
    expect(found(paying(...Array<bigint>(24).fill(1n)))).toMatchObject({ unitPriceWei: 24n });
    expect(found(paying(2n ** 128n + 1n))).toBe("price_too_high");
    expect(found(paying(2n ** 256n - 1n, 2n ** 256n - 1n))).toBe("price_too_high");
  });

  it("is none under the hash of another", () => {
    const order = found({ ...paying(1n), salt: 2n });
    expect(order).toMatchObject({ unitPriceWei: 1n });
    const shown = { marketplace: "opensea", chainId: 1, signature: null } as const;
    const components = paying(1n);
    const raw = {
      ...shown,
      orderHash: orderHash(paying(2n)),
      exchange: seaportAddresses["1.6"],
      components,
    };
    expect(parsePartnerListing(raw, { creators: [], now: new Date(0) })).toBe("wrong_order_hash");
  });
});
