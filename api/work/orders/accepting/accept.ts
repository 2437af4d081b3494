import type { Address } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import { isRejection, type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import { type BidRow, readBid } from "../../../../projections/reads/bids/read.ts";
import { readBestBids } from "../../../../projections/reads/bids/read-best.ts";
import { readSignedOrder } from "../../../../projections/reads/orders/read-signed-order.ts";
import type { ChainAnswers } from "../../chain/ask-chain.ts";
import { askOrRefuse } from "../checks/ask-or-refuse.ts";
import { type CheckedOrder, judgeStored, type unanswered } from "../checks/check-order.ts";
import { recordReadings } from "../checks/record-readings.ts";
import type { Market } from "../market.ts";
import { orderHashOf, orderId } from "../order-id.ts";
import { type AcceptArguments, argumentsFor } from "./accept-arguments.ts";
import {
  isOfBids,
  judgeBid,
  judgeSeller,
  questionsOfBid,
  questionsOfSeller,
  type Sale,
  type SellerCode,
  sellerApproval,
} from "./accept-check.ts";

/** A sale into a bid that the chain would make now. */
export type Accepted = {
  bidId: string;
  chainId: ChainId;
  contract: Address;
  tokenId: bigint;
  units: bigint;
  /** For all the units. */
  sellerNetWei: bigint;
  /** Null: the chain did not say. */
  isApproved: boolean | null;
  validUntil: Date;
  call: AcceptArguments;
};

/** A bid and what its seller would sell into it. */
type Match = { bid: CheckedOrder; sale: Sale };

type Asked = {
  chainId: ChainId;
  seller: Address;
  /** Units of an ERC-1155 token; null: one, or what a bid on the token is for. */
  units: bigint | null;
};

/** The data to sell into a bid that its seller chose. */
export async function acceptBid(
  market: Market,
  asked: Asked & { bidId: string; tokenId: bigint | null },
  now: Date,
) {
  const { writer, prefix } = market;
  const hash = orderHashOf(prefix, asked.bidId);
  const row = hash === null ? null : await readBid(writer, asked.chainId, hash, now);
  if (row === null) return reject("not_found", `No offer ${asked.bidId}`);
  const sale = saleInto(row, asked);
  if (isRejection(sale)) return sale;
  const refused = judgeStored(row);
  if (refused !== null) return refused;
  const [match] = await findMatches(market, asked.chainId, [{ row, sale }]);
  if (match === undefined) throw new Error(`Bid ${row.orderHash} has no signed order`);
  const answers = await askForMatches(market, asked.chainId, [match], now);
  return isRejection(answers) ? answers : accept(market, asked.chainId, match, answers, now);
}

/** Bids that are looked at before none is called acceptable, of those on the token and of those on its collection. */
const candidatesOfKind = 8;

/** The data to sell a token into the offer that nets its seller most, of those that the chain would fill. */
export async function acceptBestBid(
  market: Market,
  asked: Asked & { contract: Address; tokenId: bigint },
  now: Date,
) {
  const { chainId, contract, tokenId } = asked;
  const limit = candidatesOfKind;
  const rows = await readBestBids(market.writer, chainId, contract, tokenId, limit, now);
  const candidates = rows.flatMap((row) => {
    const sale = saleInto(row, asked);
    return isRejection(sale) ? [] : { row, sale };
  });
  const none = reject("not_found", `No active offer for token ${tokenId} of ${contract}`);
  if (candidates.length === 0) return none;
  const matches = await findMatches(market, chainId, candidates);
  const answers = await askForMatches(market, chainId, matches, now);
  if (isRejection(answers)) return answers;
  const outcomes = matches.map((match) => accept(market, chainId, match, answers, now));
  const best = outcomes.find((outcome) => !isRejection(outcome));
  return best ?? outcomes.find(isOfSeller) ?? none;
}

const sellerCodes = {
  not_owner: true,
  insufficient_quantity: true,
  conduit_channel_closed: true,
  transfer_restricted: true,
  rpc_unavailable: true,
} as const satisfies Record<SellerCode, true>;

/** What no other offer would mend. */
function isOfSeller(outcome: Accepted | Rejection): outcome is Rejection<SellerCode> {
  return isRejection(outcome) && outcome.rejected in sellerCodes;
}

type Wished = Asked & { tokenId: bigint | null };

function saleInto(row: BidRow, { seller, tokenId, units }: Wished) {
  if (row.maker === seller) {
    return reject("self_offer", "fulfiller: the bidder cannot sell to himself");
  }
  if (row.tokenId !== null && tokenId !== null && tokenId !== row.tokenId) {
    return reject("token_mismatch", `tokenId: the offer is for token ${row.tokenId}`);
  }
  const sold = row.tokenId ?? tokenId;
  if (sold === null) {
    return reject("token_required", "tokenId: an offer for a collection needs the token to sell");
  }
  const fitting = unitsInto(row, units);
  if (isRejection(fitting)) return fitting;
  return { seller, tokenId: sold, units: fitting } satisfies Sale;
}

/** An offer for one token is taken whole, by the basic order; of one for a collection a unit, or what is asked. */
function unitsInto(row: BidRow, asked: bigint | null) {
  const isWhole = row.kind === "single-token";
  const usual = isWhole ? row.quantity : 1n;
  const isFree = !isWhole && row.standard === 1155;
  if (asked === null || asked === usual || isFree) return asked ?? usual;
  return reject("bad_amount", `amount: the offer takes ${usual} at a time`);
}

async function findMatches(
  { writer }: Market,
  chainId: ChainId,
  candidates: readonly { row: BidRow; sale: Sale }[],
): Promise<Match[]> {
  const hashes = candidates.map(({ row }) => row.orderHash);
  const orders = await readSignedOrder(writer, chainId, hashes);
  return candidates.flatMap(({ row: { orderHash }, sale }) => {
    const order = orders.get(orderHash);
    return order === undefined ? [] : { bid: { ...order, orderHash }, sale };
  });
}

/** One look at the chain for all. What it tells of the bids is remembered; sellers are none of the book's business. */
async function askForMatches(
  market: Market,
  chainId: ChainId,
  matches: readonly Match[],
  now: Date,
): Promise<ChainAnswers | ReturnType<typeof unanswered>> {
  const ofBids = matches.flatMap(({ bid }) => questionsOfBid(bid));
  const ofSellers = matches.flatMap(({ bid, sale }) => questionsOfSeller(bid, sale));
  const answers = await askOrRefuse(market, chainId, [...ofBids, ...ofSellers]);
  if (isRejection(answers)) return answers;
  const readings = answers.readings.filter(isOfBids);
  await recordReadings(market, { chainId, basis: answers.basis, readings }, now);
  return answers;
}

function accept(
  { prefix }: Market,
  chainId: ChainId,
  { bid, sale }: Match,
  answers: ChainAnswers,
  now: Date,
) {
  const refused = judgeBid(bid, sale, answers, now) ?? judgeSeller(bid, sale, answers);
  if (refused !== null) return refused;
  const minedAt = answers.basis.timestamp;
  const { call, endTime } = argumentsFor(bid, sale, { minedAt, now });
  return {
    bidId: orderId(prefix, bid.orderHash),
    chainId,
    contract: bid.terms.contract,
    tokenId: sale.tokenId,
    units: sale.units,
    sellerNetWei: bid.terms.sellerNetWei * sale.units,
    isApproved: sellerApproval(bid, sale, answers),
    validUntil: new Date(Number(endTime) * 1000),
    call,
  } satisfies Accepted;
}
