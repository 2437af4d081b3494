import { zeroHash } from "viem";
import { expect, it } from "vitest";
import { commonConduit } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { defaultQuotas } from "#projections/domain/orders/order-quotas.ts";
import { orderBounds, type ParsedOrder } from "#projections/domain/orders/order-terms.ts";
import type { PendingOrder } from "./parse.ts";
import type { ValidationContext } from "./queries.ts";
import { createBatchTotals } from "./quotas.ts";
import { validateOwnOrders } from "./validate.ts";

const maker = "0x00000000000000000000000000000000000a11ce";
const order: ParsedOrder = {
  side: "ask",
  maker,
  orderHash: zeroHash,
  components: {
    offerer: maker,
    zone: maker,
    offer: [],
    consideration: [],
    orderType: 0,
    startTime: 0n,
    endTime: 1n,
    zoneHash: zeroHash,
    salt: 0n,
    conduitKey: commonConduit.key,
    counter: 0n,
  },
  signature: "0x",
  contract: maker,
  standard: "erc1155",
  tokenId: 1n,
  quantity: 1n,
  unitPriceWei: 10n ** 18n,
  feeLegs: [],
  sellerNetWei: 10n ** 18n,
};
const pending: PendingOrder = {
  chainId: 1,
  terms: {
    chainId: 1,
    fee: { recipient: maker, bps: 100 },
    currency: wrappedNative[1],
    bounds: orderBounds,
  },
  order,
  tokenIds: null,
  signatureCheck: { signedBy: "maker", digest: zeroHash },
  network: null,
  now: new Date(0),
};

function contextWith(openOrders: number): ValidationContext {
  return {
    stored: {
      royaltyCases: new Map(),
      contracts: new Map(),
      cheaper: [],
      openBidsWei: new Map(),
      quotas: {
        makers: new Map(),
        contracts: new Map(),
        openOfMakers: new Map([[maker, openOrders]]),
        higherBidders: new Map(),
        spending: new Map(),
        tokenSets: new Set(),
        blocked: new Set(),
      },
    },
    quotas: {
      ...defaultQuotas,
      maker: 20_000,
      contract: 20_000,
      untradedPerDay: 1e9,
      newcomersPerDay: 1e9,
    },
    results: {
      basis: { number: 0n, hash: zeroHash, timestamp: new Date(0) },
      readings: [],
      find: () => undefined,
    },
    burnedTokens: { has: () => false },
    batchTotals: createBatchTotals(),
    indexesAllContracts: true,
  };
}

it("a maker has at most ten thousand open orders on a chain, including those of the current batch", () => {
  const context = contextWith(9_999);
  expect(validateOwnOrders(pending, context)).toBeNull();
  context.batchTotals.add(order, []);
  expect(validateOwnOrders(pending, context)?.rejected).toBe("too_many_open_orders");
  expect(validateOwnOrders(pending, contextWith(10_000))?.rejected).toBe("too_many_open_orders");
});
