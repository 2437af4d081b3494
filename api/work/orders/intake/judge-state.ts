import {
  type ExchangeStatus,
  judgeBidState,
  judgeListingState,
  judgeRaise,
  type OwnListing,
  type TokenState,
} from "../../../../projections/domain/orders/judge-chain.ts";
import { reject } from "../../../../projections/domain/rejection.ts";
import { cheaperOf } from "./admission-questions.ts";
import type { Candidate, Refused } from "./candidate.ts";
import { type Evidence, rpcUnavailable } from "./evidence.ts";

/** Open orders of a maker on a chain, beyond which no more are taken in. */
const openOrdersAtMost = 10_000;

/** What the chain says about the token, the money and the order. */
export function judgeState(candidate: Candidate, evidence: Evidence): Refused | null {
  const { orderHash, side } = candidate.order;
  const status = evidence.answers.find({ kind: "order_status_read", orderHash });
  if (status === undefined) return rpcUnavailable("the order's status");
  return side === "ask"
    ? judgeListing(candidate, evidence, status)
    : judgeBid(candidate, evidence, status);
}

function judgeListing(
  { order }: Candidate,
  evidence: Evidence,
  status: ExchangeStatus,
): Refused | null {
  const { answers } = evidence;
  const { contract, tokenId, standard, components } = order;
  const owner = components.offerer;
  const channel = answers.find({ kind: "channel_read" });
  if (channel === undefined || tokenId === null) return rpcUnavailable("the conduit's channels");
  const transfer = { contract, tokenId, owner, standard };
  return judgeListingState(order, {
    ...tokenState(order, evidence),
    units:
      standard === "erc1155"
        ? (answers.find({ kind: "units_read", contract, tokenId, owner })?.units ?? 0n)
        : undefined,
    // A contract that does not tell is none of the standard's.
    approved: answers.find({ kind: "approval_read", contract, owner })?.approved ?? false,
    channelOpen: channel.open,
    status,
    transferAllowed: answers.find({ kind: "transfer_read", ...transfer })?.allowed,
  });
}

function judgeBid(
  { order, terms }: Candidate,
  evidence: Evidence,
  status: ExchangeStatus,
): Refused | null {
  const { answers, known, ledger } = evidence;
  const owner = order.components.offerer;
  const money = { currency: terms.currency, owner };
  const balance = answers.find({ kind: "balance_read", ...money });
  const allowance = answers.find({ kind: "allowance_read", ...money });
  if (balance === undefined || allowance === undefined) {
    return rpcUnavailable("the bidder's balance and allowance");
  }
  return judgeBidState(order, {
    ...tokenState(order, evidence),
    status,
    balanceWei: balance.wei,
    allowanceWei: allowance.wei,
    openBidsWei: (known.openBidsWei.get(owner) ?? 0n) + ledger.bidWei(owner),
  });
}

/** What transfers tell of a contract goes before what it says of itself. */
function tokenState(
  { contract, tokenId, standard }: Candidate["order"],
  { known, answers, coversAll }: Evidence,
): TokenState {
  const declared = answers.find({ kind: "standard", contract })?.standard ?? undefined;
  const found = known.contracts.get(contract);
  return {
    collectionKnown: found !== undefined || (coversAll && declared !== undefined),
    standard: found ?? declared,
    owner:
      standard === "erc721" && tokenId !== null
        ? answers.find({ kind: "owner_read", contract, tokenId })?.owner
        : undefined,
  };
}

/** What the maker's other orders in the book forbid. */
export function judgeBook(candidate: Candidate, evidence: Evidence): Refused | null {
  const { order } = candidate;
  const { known, ledger } = evidence;
  const maker = order.components.offerer;
  const raise =
    order.side === "ask" && order.standard === "erc721"
      ? judgeRaise(order, cheapestOwn(candidate, evidence))
      : null;
  if (raise !== null) return raise;
  const open = (known.openCounts.get(maker) ?? 0) + ledger.orders(maker);
  if (open < openOrdersAtMost) return null;
  const message = `the maker has ${open} open orders; ${openOrdersAtMost} are the most`;
  return reject("too_many_open_orders", message, [
    {
      field: "parameters.offerer",
      expected: `at most ${openOrdersAtMost} open orders`,
      actual: `${open}`,
      message,
    },
  ]);
}

/** The chain may know of an end that the book does not know yet. */
function cheapestOwn(candidate: Candidate, evidence: Evidence): OwnListing | null {
  const { known, answers, ledger } = evidence;
  const maker = candidate.order.components.offerer;
  const counter = answers.find({ kind: "counter_read", maker })?.counter;
  const live = cheaperOf(candidate, known.cheaper).filter((one) => {
    const status = answers.find({ kind: "order_status_read", orderHash: one.orderHash });
    return one.counter === counter && !status?.cancelled && !(status && status.filled > 0n);
  });
  const inBatch = ledger.cheapest(candidate.order);
  return [...live, ...(inBatch === null ? [] : [inBatch])].reduce<OwnListing | null>(
    (least, one) => (least === null || one.unitPriceWei < least.unitPriceWei ? one : least),
    null,
  );
}
