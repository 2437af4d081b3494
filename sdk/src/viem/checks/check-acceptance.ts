import { type Address, encodeFunctionData, type Hex, zeroAddress } from "viem";
import type { components } from "../../document.ts";
import { exchangeAbi } from "../abis.ts";
import { conduitKey, exchange, isSame, itemType } from "../exchange.ts";
import type { AcceptAction } from "../plan/actions.ts";
import { assertSafe } from "../wallet-error.ts";

type AcceptData = components["schemas"]["OfferAcceptData"];
type Matched = Extract<AcceptData, { method: "matchAdvancedOrders" }>;
type Basic = Extract<AcceptData, { method: "fulfillBasicOrder_efficient_6GL6yc" }>;

/** Routes of a basic order in which the sender gives an ERC-721 or ERC-1155 token for ERC-20, open to all, whole or in parts. */
const routes: readonly number[] = [16, 17, 20, 21];

/** The data of a call that sells exactly what the plan shows, for exactly its net amount. */
export function encodeAcceptance(answer: AcceptData, plan: AcceptAction, seller: Address): Hex {
  assertSafe(isSame(answer.to, exchange), "the transaction goes to another contract");
  assertSafe(BigInt(answer.value) === 0n, "value is sent");
  if (answer.method === "matchAdvancedOrders") {
    checkMatch(answer, plan, seller);
    const { orders, criteriaResolvers, fulfillments, recipient } = answer;
    const args = [orders, criteriaResolvers, fulfillments, recipient] as never;
    return encodeFunctionData({ abi: exchangeAbi, functionName: "matchAdvancedOrders", args });
  }
  assertSafe(answer.method === "fulfillBasicOrder_efficient_6GL6yc", "it calls another function");
  checkBasic(answer, plan);
  const args = [answer.basicOrderParameters] as never;
  return encodeFunctionData({ abi: exchangeAbi, functionName: answer.method, args });
}

function checkBasic({ basicOrderParameters: basic }: Basic, plan: AcceptAction): void {
  assertSafe(routes.includes(basic.basicOrderType), "it is another kind of trade");
  assertSafe(isSame(basic.zone, zeroAddress), "the order names a zone");
  assertSafe(isSame(basic.considerationToken, plan.contract), "it sells of another contract");
  const isToken = BigInt(basic.considerationIdentifier) === BigInt(plan.tokenId);
  assertSafe(isToken, "it sells another token");
  const isQuantity = BigInt(basic.considerationAmount) === BigInt(plan.quantity);
  assertSafe(isQuantity, "it sells another number of units");
  assertSafe(isSame(basic.offerToken, plan.currency), "it is paid in something else");
  assertSafe(
    isSame(basic.fulfillerConduitKey, conduitKey),
    "the conduit key is not the expected one",
  );
  const fees = basic.additionalRecipients.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const netWei = BigInt(basic.offerAmount) - fees;
  assertSafe(netWei === BigInt(plan.netWei), "the seller receives another amount");
}

/**
 * Orders of the sender need no signature: exactly one of them is filled. What it asks for is paid to the seller, or the
 * exchange reverts, whatever the fulfillments say.
 */
function checkMatch(answer: Matched, plan: AcceptAction, seller: Address): void {
  const { orders, criteriaResolvers, recipient } = answer;
  const [bid, mirror] = orders;
  assertSafe(
    bid !== undefined && mirror !== undefined && orders.length === 2,
    "it fills other orders",
  );
  assertSafe(!isSame(bid.parameters.offerer, seller), "it fills another order of the seller's");
  assertSafe(isSame(recipient, seller), "somebody else receives what is left over");
  const isOfBid = criteriaResolvers.every(({ orderIndex }) => BigInt(orderIndex) === 0n);
  assertSafe(isOfBid, "it chooses the seller's tokens by criteria");
  const isWhole = BigInt(mirror.numerator) === 1n && BigInt(mirror.denominator) === 1n;
  assertSafe(isWhole, "it sells a part");
  checkMirror(mirror.parameters, plan, seller);
}

type Mirror = Matched["orders"][number]["parameters"];

/** The seller's side of a match. */
function checkMirror(mirror: Mirror, plan: AcceptAction, seller: Address): void {
  assertSafe(isSame(mirror.offerer, seller), "somebody else sells");
  assertSafe(mirror.orderType === 0 && isSame(mirror.zone, zeroAddress), "the order names a zone");
  assertSafe(isSame(mirror.conduitKey, conduitKey), "the conduit key is not the expected one");
  const [given, ...more] = mirror.offer;
  assertSafe(given !== undefined && more.length === 0, "it sells other items too");
  const isNft = given.itemType === itemType.erc721 || given.itemType === itemType.erc1155;
  assertSafe(isNft, "it sells something else than the token");
  assertSafe(isSame(given.token, plan.contract), "it sells of another contract");
  assertSafe(BigInt(given.identifierOrCriteria) === BigInt(plan.tokenId), "it sells another token");
  assertSafe(isFixed(given, plan.quantity), "it sells another number of units");
  const [paid, ...others] = mirror.consideration;
  assertSafe(paid !== undefined && others.length === 0, "it pays others too");
  assertSafe(paid.itemType === itemType.erc20, "it is paid in something else");
  assertSafe(isSame(paid.token, plan.currency), "it is paid in another currency");
  assertSafe(isSame(paid.recipient, seller), "somebody else is paid");
  assertSafe(isFixed(paid, plan.netWei), "the seller receives another amount");
}

type Amounts = { readonly startAmount: string; readonly endAmount: string };

const isFixed = ({ startAmount, endAmount }: Amounts, amount: string) =>
  BigInt(startAmount) === BigInt(amount) && BigInt(endAmount) === BigInt(amount);
