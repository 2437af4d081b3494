import { type Address, zeroAddress } from "viem";
import { z } from "zod";
import { factKind } from "../../log/fact-kind.ts";
import type { Told } from "./event.ts";
import type { FeedFact, KnownOrder } from "./fact.ts";

const deadAddress = "0x000000000000000000000000000000000000dead";

/** What a transfer, a cancel or an order taken in tells. `orders` are those taken in that a cancel may be of. */
export function tell(fact: FeedFact, orders: readonly KnownOrder[]): Told {
  switch (fact.kind) {
    case factKind.order_submitted:
      return tellOrder(fact);
    case factKind.order_cancelled:
    case factKind.counter_incremented:
      return tellCancel(fact, orders);
    default:
      return tellMove(fact);
  }
}

/** What every event of a fact has in common; the rest is unknown. */
export function placeOf(fact: FeedFact): Omit<Told, "type"> {
  return {
    chainId: fact.chainId,
    contract: null,
    tokenId: null,
    quantity: null,
    from: fact.from,
    to: null,
    priceWei: null,
    totalWei: null,
    currency: null,
    orderHash: null,
    sale: null,
    startsAt: null,
    expiresAt: null,
    txHash: fact.txHash,
    logIndex: fact.logIndex,
    blockNumber: fact.blockNumber,
    blockHash: fact.blockHash,
    timestamp: fact.timestamp,
  };
}

function tellMove(fact: FeedFact): Told {
  const { contract, tokenId, to } = fact;
  const quantity = fact.kind === factKind.erc721_transfer ? 1n : fact.amount;
  return { ...placeOf(fact), type: moveType(fact), contract, tokenId, quantity, to };
}

function moveType({ from, to }: FeedFact): Told["type"] {
  if (from === zeroAddress) return "mint";
  return to === zeroAddress || to === deadAddress ? "burn" : "transfer";
}

/** Of an order that was taken in before it is known what it is about. */
function tellCancel(fact: FeedFact, orders: readonly KnownOrder[]): Told {
  const order = orders.find(
    ({ position, chainId, orderHash }) =>
      orderHash === fact.orderHash && chainId === fact.chainId && position < fact.position,
  );
  return {
    ...placeOf(fact),
    type: "cancel",
    contract: order?.contract ?? null,
    tokenId: order?.tokenId ?? null,
    orderHash: fact.orderHash,
  };
}

const item = z.object({ token: z.string().transform((token) => token as Address) });

/** The part of an order's payload that the feed tells. */
const submitted = z.object({
  components: z.object({
    offer: z.array(item),
    consideration: z.array(item),
    startTime: z.string(),
    endTime: z.string(),
  }),
  terms: z.object({ side: z.enum(["ask", "bid"]), unitPriceWei: z.string() }),
});

function tellOrder(fact: FeedFact): Told {
  const { components, terms } = submitted.parse(fact.payload);
  const isAsk = terms.side === "ask";
  const [paid] = isAsk ? components.consideration : components.offer;
  const priceWei = BigInt(terms.unitPriceWei);
  return {
    ...placeOf(fact),
    type: isAsk ? "listing" : "offer",
    contract: fact.contract,
    tokenId: fact.tokenId,
    quantity: fact.amount,
    priceWei,
    totalWei: priceWei * (fact.amount ?? 1n),
    currency: paid?.token ?? null,
    orderHash: fact.orderHash,
    startsAt: dateOf(components.startTime),
    expiresAt: dateOf(components.endTime),
  };
}

const latestMs = 8.64e15;

function dateOf(seconds: string): Date {
  return new Date(Math.min(Number(seconds) * 1_000, latestMs));
}
