import type { Address } from "viem";
import { wrappedNative } from "../../../abis/deployments.ts";
import { isRejection } from "../rejection.ts";
import { bidComponents } from "../seaport/bid-components.ts";
import { listingComponents } from "../seaport/listing-components.ts";
import type { OrderComponents } from "../seaport/order-components.ts";
import { judgeFees } from "./judge-fees.ts";
import { judgeTimes } from "./judge-times.ts";
import { type MarketTerms, orderBounds } from "./market-terms.ts";
import { recognizeBid, recognizeListing } from "./recognize-order.ts";
import type { TradeTerms } from "./trade-terms.ts";

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
const freely = { maker, startTime: now, endTime: now + 86_400n, salt: 1n, counter: 7n } as const;
const token = { standard: "erc721", contract, tokenId: 9n } as const;
const edition = { ...token, standard: "erc1155" } as const;
const collection = { standard: "erc721", contract, criteria: 0n } as const;

/** Orders that are taken in; fee and royalty are 1 % and 5 %. */
export const orders = {
  listing: listingComponents({ ...freely, nft: token, quantity: 1n, price }),
  editionListing: listingComponents({ ...freely, nft: edition, quantity: 5n, price }),
  bid: bidComponents({ ...freely, wanted: token, quantity: 1n, price, currency }),
  editionBid: bidComponents({ ...freely, wanted: edition, quantity: 5n, price, currency }),
  collectionBid: bidComponents({ ...freely, wanted: collection, quantity: 3n, price, currency }),
} as const;

/** Shape, fees and times of an order, as far as they are judged without a chain: a code, or the terms. */
function judge(
  side: TradeTerms["side"],
  components: OrderComponents,
  totalOriginalConsiderationItems: bigint | null = null,
) {
  const body = { components, signature: "0x", totalOriginalConsiderationItems } as const;
  const order = side === "ask" ? recognizeListing(body, terms) : recognizeBid(body, terms);
  if (isRejection(order)) return order;
  const fees = judgeFees(order, terms, royaltyOf(creator, order.unitPriceWei));
  if (isRejection(fees)) return fees;
  return judgeTimes(components, terms.bounds, now) ?? fees;
}

/** The answer to an order: `accepted`, or the code with the place that it points at. */
export function answerTo(...judged: Parameters<typeof judge>): string {
  const verdict = judge(...judged);
  if (!isRejection(verdict)) return "accepted";
  return `${verdict.rejected} ${verdict.details?.[0]?.field.replace("parameters.", "")}`;
}

/** The order with the values at these paths, such as `offer[0].token`, replaced; everything else as it was. */
export function altered(
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
