import type { Address } from "viem";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { ChainReading } from "#projections/log/readings.ts";
import type { ChainQuery } from "../chain/chain-query.ts";
import type { ChainResults } from "../chain/query-chain.ts";
import {
  type CheckedOrder,
  chainUnavailable,
  evaluateConduit,
  evaluateOrder,
  heldUnits,
  isConduitApproved,
  orderQueries,
  transferQueries,
} from "./evaluate-order.ts";

/** Who sells what into a bid. */
export type BidSale = { seller: Address; tokenId: bigint; units: bigint };

function bidQuerySet(bid: CheckedOrder) {
  const owner = bid.components.offerer;
  const currency = currencyOf(bid);
  return {
    ...orderQueries(bid),
    balance: { kind: "balance_read", currency, owner },
    allowance: { kind: "allowance_read", currency, owner },
  } as const satisfies Record<string, ChainQuery>;
}

function sellerQuerySet({ terms, components }: CheckedOrder, { seller, tokenId }: BidSale) {
  const { contract, standard } = terms;
  const queries = transferQueries({ contract, standard, tokenId }, seller);
  if (standard === "erc1155") return queries;
  // To the bidder, whom the collection may refuse. Of ERC-1155 the bidder's own code decides: `receiptOf`.
  return { ...queries, transfer: { ...queries.transfer, to: components.offerer } };
}

/** Whether the bidder takes what is sold. The exchange transfers ERC-721 tokens without a call of the recipient. */
function receiptOf({ terms, components }: CheckedOrder, { seller, tokenId, units }: BidSale) {
  if (terms.standard === "erc721") return null;
  const [contract, recipient] = [terms.contract, components.offerer];
  return { kind: "receipt", contract, tokenId, owner: seller, recipient, units } as const;
}

/** Chain state of the bid itself, which is recorded. */
export function bidQueries(bid: CheckedOrder): ChainQuery[] {
  return Object.values(bidQuerySet(bid));
}

/** Whether a reading is about bids, not about a seller. */
export function isBidReading({ kind }: ChainReading): boolean {
  return bidReadingKinds.has(kind);
}

const bidReadingKinds: ReadonlySet<ChainReading["kind"]> = new Set([
  "order_status_read",
  "counter_read",
  "signature_read",
  "recipients_read",
  "balance_read",
  "allowance_read",
]);

/** Chain state of the seller and of what the bidder takes, which is not recorded. */
export function saleQueries(bid: CheckedOrder, sale: BidSale): ChainQuery[] {
  const receipt = receiptOf(bid, sale);
  const ofSeller = Object.values(sellerQuerySet(bid, sale));
  return receipt === null ? ofSeller : [...ofSeller, receipt];
}

/** Why the exchange would not fill these units of the bid; null: it would. */
export function evaluateBid(
  bid: CheckedOrder,
  { units }: BidSale,
  results: ChainResults,
  now: Date,
) {
  const left = evaluateOrder(bid, results, now);
  if (isRejection(left)) return left;
  if (units > left) return reject("bad_amount", `Only ${left} units of the offer are left`);
  const queries = bidQuerySet(bid);
  const balance = results.find(queries.balance);
  const allowance = results.find(queries.allowance);
  if (balance === undefined || allowance === undefined) return chainUnavailable();
  const neededWei = bid.terms.unitPriceWei * units;
  if (balance.wei < neededWei) {
    return reject("insufficient_balance", "The bidder's balance is below the price");
  }
  if (allowance.wei < neededWei) {
    return reject(
      "insufficient_allowance",
      "The bidder's allowance to the exchange is below the price",
    );
  }
  return null;
}

/** Why the bidder would not take the units; null: it would. An unknown answer rejects: it is the bidder's code that gives none. */
export function evaluateReceipt(
  bid: CheckedOrder,
  sale: BidSale,
  results: ChainResults,
): Rejection<"transfer_restricted" | "rpc_unavailable"> | null {
  const query = receiptOf(bid, sale);
  if (query === null) return null;
  const receipt = results.find(query);
  if (receipt === undefined) return chainUnavailable();
  if (receipt.taken) return null;
  const message = "The bidder's contract does not take the token (ERC-1155)";
  return reject("transfer_restricted", message);
}

export type SellerRejectionCode =
  | "not_owner"
  | "insufficient_quantity"
  | "conduit_channel_closed"
  | "transfer_restricted"
  | "rpc_unavailable";

/** Why the seller could not transfer the units once the conduit is approved; null: he could. */
export function evaluateSeller(
  bid: CheckedOrder,
  sale: BidSale,
  results: ChainResults,
): Rejection<SellerRejectionCode> | null {
  const queries = sellerQuerySet(bid, sale);
  const rejection = evaluateHolding(sale, heldUnits(queries, results));
  if (rejection !== null) return rejection;
  if (results.find(queries.channel) === undefined) return chainUnavailable();
  return evaluateConduit(queries, results);
}

function evaluateHolding({ units, tokenId }: BidSale, held: bigint | undefined) {
  if (held === undefined) return chainUnavailable();
  if (held === 0n) return reject("not_owner", `The seller does not hold token ${tokenId}`);
  if (held < units) {
    return reject("insufficient_quantity", `The seller holds ${held} units and sells ${units}`);
  }
  return null;
}

/** Whether the seller has approved the conduit; null: unknown. */
export function sellerApproval(
  bid: CheckedOrder,
  sale: BidSale,
  results: ChainResults,
): boolean | null {
  return isConduitApproved(sellerQuerySet(bid, sale), results) ?? null;
}

function currencyOf({ components, orderHash }: CheckedOrder): Address {
  const [paid] = components.offer;
  if (paid === undefined) throw new TypeError(`Bid ${orderHash} offers nothing`);
  return paid.token;
}
