import { type Address, type Hex, zeroAddress } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import { marketplaces } from "#projections/domain/marketplaces.ts";
import type { PartnerName } from "#projections/domain/partners.ts";
import {
  itemType,
  type OfferItem,
  type OrderComponents,
} from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import type { PartnerListing } from "#projections/partners/partner-listing.ts";

export type PartnerOrder = {
  marketplace: PartnerName;
  chainId: ChainId;
  /** The hash the partner states. */
  orderHash: Hex;
  /** The exchange it was signed for. */
  exchange: Address;
  components: OrderComponents;
  signature: Hex | null;
};

/** Why a partner's order is not recorded. */
export type RejectReason =
  | "wrong_order_hash"
  | "other_exchange"
  | "ended"
  | "contract_order"
  | "bundle"
  | "not_a_token"
  | "bad_quantity"
  | "private"
  | "dynamic_price"
  | "too_many_payments"
  | "other_currency"
  | "price_too_high"
  | "not_divisible"
  | "zero_price";

type Context = { creators: readonly Address[]; now: Date };

/** Seaport's CONTRACT order type, whose terms the offerer generates at fulfillment. */
const contractOrder = 4;
/** Seaport stores the filled fraction in 120 bits. */
const maxQuantity = 2n ** 120n - 1n;

/** A row stores every payment of its listing and their sums. */
const maxPayments = 24;
const maxWei = 2n ** 128n;

/** A listing of one token at a fixed price in the native or wrapped native currency, or why the order is not one. */
export function parsePartnerListing(
  order: PartnerOrder,
  context: Context,
): PartnerListing | RejectReason {
  const { components, chainId } = order;
  if (orderHash(components) !== order.orderHash) return "wrong_order_hash";
  if (order.exchange !== seaportAddresses["1.6"]) return "other_exchange";
  if (components.endTime * 1_000n <= BigInt(context.now.getTime())) return "ended";
  if (components.orderType >= contractOrder) return "contract_order";
  const [nft, ...others] = components.offer;
  if (nft === undefined || others.length > 0) return "bundle";
  const reason = validateToken(nft) ?? validatePayments(components, chainId, nft.startAmount);
  return reason ?? toListing(order, nft, context);
}

function validateToken(nft: OfferItem): RejectReason | null {
  const { startAmount, endAmount } = nft;
  if (nft.itemType !== itemType.erc721 && nft.itemType !== itemType.erc1155) return "not_a_token";
  if (startAmount !== endAmount || startAmount === 0n || startAmount > maxQuantity) {
    return "bad_quantity";
  }
  return nft.itemType === itemType.erc721 && startAmount !== 1n ? "bad_quantity" : null;
}

function validatePayments(
  { consideration }: OrderComponents,
  chainId: ChainId,
  quantity: bigint,
): RejectReason | null {
  if (consideration.some((item) => item.itemType >= itemType.erc721)) return "private";
  if (consideration.length > maxPayments) return "too_many_payments";
  if (consideration.some((item) => item.startAmount !== item.endAmount)) return "dynamic_price";
  const isPaidIn = (type: number, token: Address) =>
    consideration.every(
      (item) => item.itemType === type && item.token === token && item.identifierOrCriteria === 0n,
    );
  const isKnown =
    isPaidIn(itemType.native, zeroAddress) || isPaidIn(itemType.erc20, wrappedNative[chainId]);
  if (!isKnown) return "other_currency";
  if (consideration.some((item) => item.startAmount > maxWei)) return "price_too_high";
  if (consideration.some((item) => item.startAmount % quantity !== 0n)) return "not_divisible";
  return consideration.every((item) => item.startAmount === 0n) ? "zero_price" : null;
}

function toListing(order: PartnerOrder, nft: OfferItem, { creators }: Context): PartnerListing {
  const { marketplace, chainId, components, signature } = order;
  const quantity = nft.startAmount;
  const { consideration, offerer } = components;
  const [payment] = consideration;
  const legs = consideration.map(({ recipient, startAmount }) => ({
    recipient,
    unitWei: startAmount / quantity,
  }));
  const fees = legs.filter(({ recipient }) => recipient !== offerer);
  const unitPriceWei = sumOf(legs);
  return {
    marketplace,
    chainId,
    orderHash: order.orderHash,
    components,
    signature,
    contract: nft.token,
    standard: nft.itemType === itemType.erc1155 ? "erc1155" : "erc721",
    tokenId: nft.identifierOrCriteria,
    quantity,
    currency: payment?.itemType === itemType.erc20 ? payment.token : null,
    unitPriceWei,
    sellerNetWei: unitPriceWei - sumOf(fees),
    fees: fees.map((leg) => ({ ...leg, kind: feeKindOf(leg.recipient, marketplace, creators) })),
  };
}

const sumOf = (legs: readonly { unitWei: bigint }[]) =>
  legs.reduce((sum, { unitWei }) => sum + unitWei, 0n);

function feeKindOf(
  recipient: Address,
  marketplace: PartnerName,
  creators: readonly Address[],
): PartnerListing["fees"][number]["kind"] {
  if (isServiceRecipient(marketplace, recipient)) return "service";
  return creators.includes(recipient) ? "royalty" : "other";
}

/** Whether payments to the recipient are the marketplace's own fee. */
export function isServiceRecipient(marketplace: PartnerName, recipient: Address): boolean {
  const own = marketplaces.find(({ wire }) => wire === marketplace);
  return own?.feeRecipients.includes(recipient) ?? false;
}
