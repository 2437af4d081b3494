import { hashTypedData } from "viem";
import { describe, expect, it } from "vitest";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { signingParams } from "#projections/domain/orders/order-params.ts";
import { draftListingComponents } from "#projections/domain/seaport/draft-components.ts";
import {
  bulkOrderTree,
  bulkSignature,
  orderHash as serviceHash,
} from "#projections/domain/seaport/order-hash.ts";
import {
  bidCurrency,
  conduit,
  conduitKey,
  domainOf,
  exchange,
  orderHash,
  orderTypes,
} from "#sdk/src/viem/exchange.ts";
import { splitBulkSignature } from "#sdk/src/viem/run/bulk-order.ts";

const order = (tokenId: bigint) =>
  draftListingComponents({
    maker: "0x00000000000000000000000000000000000a11ce",
    ...{ startTime: 1_700_000_000n, endTime: 1_700_086_400n, salt: tokenId, counter: 7n },
    quantity: 1n,
    nft: { standard: "erc721", contract: "0x0000000000000000000000000000000000000721", tokenId },
    price: {
      unitPriceWei: 10n ** 18n,
      fee: { recipient: "0x000000000000000000000000000000000000fee0", bps: 100 },
      royalty: null,
    },
  });

describe("the client, which shares no code with the service,", () => {
  it("knows the same contracts", () => {
    expect(exchange).toBe(seaportAddresses["1.6"]);
    expect([conduit, conduitKey]).toEqual([commonConduit.address, commonConduit.key]);
    expect(bidCurrency).toEqual(wrappedNative);
  });

  it("hashes and signs orders in the same form", () => {
    expect(orderHash(order(3n))).toBe(serviceHash(order(3n)));
    const message = order(3n);
    const primaryType = "OrderComponents";
    const { domain, types } = signingParams(33139);
    const ours = { domain: domainOf(33139), types: orderTypes, primaryType, message } as never;
    expect(hashTypedData(ours)).toBe(
      hashTypedData({ domain, types, primaryType, message } as never),
    );
  });

  it.each([2, 3, 4, 5, 9, 100])("proves each of %i orders under one signature", (count) => {
    const orders = Array.from({ length: count }, (_, index) => order(BigInt(index)));
    const base = `0x${"ab".repeat(65)}` as const;
    const { proofs } = bulkOrderTree(orders.map(serviceHash));
    expect(splitBulkSignature(base, orders)).toEqual(
      orders.map((_, index) => bulkSignature(base, index, proofs[index] ?? [])),
    );
  });
});
