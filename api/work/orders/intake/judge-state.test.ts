import { zeroHash } from "viem";
import { expect, it } from "vitest";
import { commonConduit, wrappedNative } from "../../../../abis/deployments.ts";
import { orderBounds } from "../../../../projections/domain/orders/market-terms.ts";
import type { RecognizedOrder } from "../../../../projections/domain/orders/recognized-order.ts";
import type { Candidate } from "./candidate.ts";
import type { Evidence } from "./evidence.ts";
import { judgeBook } from "./judge-state.ts";
import { openLedger } from "./ledger.ts";

const maker = "0x00000000000000000000000000000000000a11ce";
const order: RecognizedOrder = {
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
  taken: [],
  sellerNetWei: 10n ** 18n,
};
const candidate: Candidate = {
  chainId: 1,
  terms: {
    chainId: 1,
    fee: { recipient: maker, bps: 100 },
    currency: wrappedNative[1],
    bounds: orderBounds,
  },
  order,
  verdict: { signedBy: "maker", digest: zeroHash },
  now: new Date(0),
};

function evidenceOf(openOrders: number): Evidence {
  return {
    known: {
      royaltyCases: new Map(),
      contracts: new Map(),
      cheaper: [],
      openBidsWei: new Map(),
      openCounts: new Map([[maker, openOrders]]),
    },
    answers: {
      basis: { number: 0n, hash: zeroHash, timestamp: new Date(0) },
      readings: [],
      find: () => undefined,
    },
    ledger: openLedger(),
    coversAll: true,
  };
}

it("a maker has ten thousand open orders on a chain at most, those of the batch under way included", () => {
  const evidence = evidenceOf(9_999);
  expect(judgeBook(candidate, evidence)).toBeNull();
  evidence.ledger.add(order);
  expect(judgeBook(candidate, evidence)?.rejected).toBe("too_many_open_orders");
  expect(judgeBook(candidate, evidenceOf(10_000))?.rejected).toBe("too_many_open_orders");
});
