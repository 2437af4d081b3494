import type { Address } from "viem";
import { wrappedNative } from "#chains/index.ts";
import { isRejection } from "../rejection.ts";
import { draftBidComponents, draftListingComponents } from "../seaport/draft-components.ts";
import type { OrderComponents } from "../seaport/order-components.ts";
import { type MarketTerms, orderBounds, type TradeTerms } from "./order-terms.ts";
import { parseBid, parseListing } from "./parse-order.ts";
import { validateFees, validateTimes } from "./validate-terms.ts";

export const maker = "0x00000000000000000000000000000000000a11ce";
export const stranger = "0x0000000000000000000000000000000000005724";
export const creator = "0x000000000000000000000000000000000000c4ea";
export const feeRecipient = "0x000000000000000000000000000000000000fee0";
export const contract = "0x000000000000000000000000000000000000c0de";
export const currency = wrappedNative[1];
export const now = 1_700_000_000n;

export const terms: MarketTerms = {
  chainId: 1,
  fee: { recipient: feeRecipient, bps: 100 },
  currency,
  bounds: orderBounds,
};

const royaltyBps = 500n;
const royaltyOf = (recipient: Address, unitPriceWei: bigint) => ({
  recipient,
  royaltyWei: (unitPriceWei * royaltyBps) / 10_000n,
});

const unitPriceWei = 10n ** 18n;
const price = { unitPriceWei, fee: terms.fee, royalty: royaltyOf(creator, unitPriceWei) };
const makerChoices = {
  maker,
  startTime: now,
  endTime: now + 86_400n,
  salt: 1n,
  counter: 7n,
} as const;
const token = { standard: "erc721", contract, tokenId: 9n } as const;
const edition = { ...token, standard: "erc1155" } as const;
const collection = { standard: "erc721", contract, criteria: 0n } as const;

/** Valid orders; the fee is 1 %, the royalty 5 %. */
export const orders = {
  listing: draftListingComponents({ ...makerChoices, nft: token, quantity: 1n, price }),
  editionListing: draftListingComponents({ ...makerChoices, nft: edition, quantity: 5n, price }),
  bid: draftBidComponents({ ...makerChoices, nft: token, quantity: 1n, price, currency }),
  editionBid: draftBidComponents({ ...makerChoices, nft: edition, quantity: 5n, price, currency }),
  collectionBid: draftBidComponents({
    ...makerChoices,
    nft: collection,
    quantity: 3n,
    price,
    currency,
  }),
} as const;

/** Validates shape, fees and times of an order without chain state. */
function validateOffline(
  side: TradeTerms["side"],
  components: OrderComponents,
  totalOriginalConsiderationItems: bigint | null = null,
) {
  const body = { components, signature: "0x", totalOriginalConsiderationItems } as const;
  const order = side === "ask" ? parseListing(body, terms) : parseBid(body, terms);
  if (isRejection(order)) return order;
  const fees = validateFees(order, terms, royaltyOf(creator, order.unitPriceWei));
  if (isRejection(fees)) return fees;
  return validateTimes(components, terms.bounds, now) ?? fees;
}

/** `accepted`, or the rejection code and the field it names. */
export function resultOf(...order: Parameters<typeof validateOffline>): string {
  const result = validateOffline(...order);
  if (!isRejection(result)) return "accepted";
  return `${result.rejected} ${result.details?.[0]?.field.replace("parameters.", "")}`;
}

/** A copy of the order with the values at these paths, such as `offer[0].token`, replaced. */
export function withChanges(
  components: OrderComponents,
  changes: Readonly<Record<string, unknown>>,
): OrderComponents {
  const copy = structuredClone(components);
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.match(/\w+/g) ?? [];
    const last = keys.pop() ?? "";
    const parent = keys.reduce<unknown>((node, key) => Reflect.get(Object(node), key), copy);
    if (!Reflect.set(Object(parent), last, value)) throw new Error(`No ${path} in the order`);
  }
  return copy;
}
