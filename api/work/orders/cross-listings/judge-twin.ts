import type { Hex } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import { seaport } from "../../../../abis/deployments.ts";
import type { OrderBody } from "../../../../projections/domain/orders/order-body.ts";
import type { OrderComponents } from "../../../../projections/domain/seaport/order-components.ts";
import type { PartnerListing, PartnerName } from "../../../../projections/facts/partner-listing.ts";
import { unixSeconds } from "../../../../projections/reads/orders/read-shown.ts";
import { recognizeListing, type Unfit } from "../../marketplaces/recognize-listing.ts";
import { type TwinFee, type TwinTerms, twinForm } from "./twin-terms.ts";

export type JudgedTwin = {
  marketplace: PartnerName;
  chainId: ChainId;
  twinHash: Hex;
  body: OrderBody;
  /** The listing in the market's own book. */
  listing: { orderHash: Hex; components: OrderComponents };
  now: Date;
};

const unfitWords: Record<Unfit, string> = {
  wrong_order_hash: "the order has another hash",
  other_exchange: `the order must be for the exchange ${seaport["1.6"]}`,
  ended: "endTime must lie ahead",
  contract_order: "orderType must be 2 or 3",
  bundle: "offer must hold one item",
  not_a_token: "offer must hold an ERC-721 or ERC-1155 token",
  bad_quantity: "offer must hold a fixed number of units, of an ERC-721 one",
  private: "consideration must hold payments alone",
  dynamic_price: "the price must be fixed",
  other_currency: "consideration must all be in the native currency or all in the wrapped one",
  price_too_high: "no payment may be above 2^128 wei",
  too_many_payments: "there must be no more than 24 payments",
  not_divisible: "every payment must be divisible by the number of units",
  zero_price: "the price must not be zero",
};

/** Everything that keeps an order from being the twin of a listing at its partner, in words that say what is expected. */
export function judgeTwin(twin: JudgedTwin, terms: TwinTerms | null): string[] {
  const { marketplace, chainId, twinHash, body, now } = twin;
  const { components } = body;
  const order = { marketplace, chainId, orderHash: twinHash, components, signature: null };
  const shown = recognizeListing({ ...order, exchange: seaport["1.6"] }, { creators: [], now });
  if (typeof shown === "string") return [unfitWords[shown]];
  return [
    ...judgeSameness(twin),
    ...judgeForm(body),
    ...judgeTimes(components, now),
    ...judgePayments(shown, terms),
  ];
}

const expect = (field: string, expected: unknown, actual: unknown): string[] =>
  expected === actual ? [] : [`${field} must be ${expected}, and is ${actual}`];

/** Price, times and salt may differ. */
function judgeSameness({ body: { components }, listing, twinHash }: JudgedTwin): string[] {
  const [own] = listing.components.offer;
  const [item] = components.offer;
  return [
    ...(twinHash === listing.orderHash ? ["the twin must be an order of its own"] : []),
    ...expect("offerer", listing.components.offerer, components.offerer),
    ...expect("counter", listing.components.counter, components.counter),
    ...expect("offer.0.itemType", own?.itemType, item?.itemType),
    ...expect("offer.0.token", own?.token, item?.token),
    ...expect(
      "offer.0.identifierOrCriteria",
      own?.identifierOrCriteria,
      item?.identifierOrCriteria,
    ),
    ...expect("offer.0.startAmount", own?.startAmount, item?.startAmount),
  ];
}

function judgeForm({ components, totalOriginalConsiderationItems }: OrderBody): string[] {
  const { zone, zoneHash, conduitKey, orderType, consideration } = components;
  return [
    ...expect("zone", twinForm.zone, zone),
    ...expect("zoneHash", twinForm.zoneHash, zoneHash),
    ...expect("conduitKey", twinForm.conduitKey, conduitKey),
    ...(orderType === 2 || orderType === 3
      ? []
      : [`orderType must be 2 or 3, and is ${orderType}`]),
    ...(totalOriginalConsiderationItems === null
      ? []
      : expect(
          "totalOriginalConsiderationItems",
          BigInt(consideration.length),
          totalOriginalConsiderationItems,
        )),
  ];
}

/** Whether it has ended is told with the rest of its shape. */
function judgeTimes({ startTime, endTime }: OrderComponents, now: Date): string[] {
  const longest = BigInt(twinForm.maximumSeconds);
  const begins = startTime > unixSeconds(now) ? startTime : unixSeconds(now);
  if (startTime >= endTime) return ["endTime must lie after startTime"];
  return endTime - begins > longest || endTime - startTime > longest
    ? [`the order must end within ${longest} seconds of its start`]
    : [];
}

/** The seller first, then nobody but those whom the collection names, each with its share. */
function judgePayments(
  { components, quantity }: PartnerListing,
  terms: TwinTerms | null,
): string[] {
  const { consideration, offerer } = components;
  const [first, ...taken] = consideration;
  const seller = expect("consideration.0.recipient", offerer, first?.recipient);
  if (terms === null) return seller;
  const totalWei = consideration.reduce((sum, { startAmount }) => sum + startAmount, 0n);
  const named = new Set(terms.fees.map(({ recipient }) => recipient));
  const strangers = taken.filter(({ recipient }) => !named.has(recipient));
  return [
    ...seller,
    ...terms.fees.flatMap((fee) => judgeFee(fee, taken, { totalWei, quantity })),
    ...strangers.map(({ recipient }) => `consideration must not pay ${recipient}`),
  ];
}

/** Shares round to the wei of a unit, either way. */
function judgeFee(
  { recipient, bps, isRequired, isService }: TwinFee,
  taken: OrderComponents["consideration"],
  { totalWei, quantity }: { totalWei: bigint; quantity: bigint },
): string[] {
  const legs = taken.filter((leg) => leg.recipient === recipient);
  if (legs.length === 0 && (!isRequired || bps === 0)) return [];
  const paidWei = legs.reduce((sum, { startAmount }) => sum + startAmount, 0n);
  const dueWei = (totalWei * BigInt(bps)) / 10_000n;
  const off = paidWei > dueWei ? paidWei - dueWei : dueWei - paidWei;
  if (off <= quantity) return [];
  const whose = isService ? "the service" : "the creator";
  return [
    `consideration must pay ${whose} ${recipient} ${dueWei} (${bps} basis points), and pays ${paidWei}`,
  ];
}
