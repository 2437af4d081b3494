import { type Address, type Hex, zeroAddress } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import { type ChainResults, readingsOf } from "#jobs/chain/query-chain.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import {
  evaluateListing,
  evaluateUnsigned,
  listingQueries,
  toBuyRejection,
  unsignedQueries,
} from "#jobs/orders/evaluate-listing.ts";
import type { CheckedOrder } from "#jobs/orders/evaluate-order.ts";
import type { Fulfillment, Partner } from "#jobs/partners/partner.ts";
import { partnersFillingByApi } from "#projections/domain/partners.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { isFilledWhole, orderParameters, orderQuantity } from "#projections/domain/seaport/fill.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import { buildPurchase, encodePurchase, type Purchase, serviceTag } from "./buy-calldata.ts";
import { type BuyableListing, findBuyableListings } from "./buyable-listings.ts";
import { type Market, recordReadings } from "./market.ts";

export type BuyCode =
  | "not_found"
  | "inactive"
  | "unavailable"
  | "order_mismatch"
  | "price_above_max"
  | "buyer_required"
  | "bad_amount"
  | "unsupported_marketplace"
  | "unsupported_order"
  | "upstream_error"
  | "partner_rate_limited"
  | "transfer_restricted"
  | "buying_disabled";

export type PreparedPurchase = {
  askId: string;
  chainId: ChainId;
  purchase: Purchase;
  endsAt: Date;
};
type Outcome<Value> = Value | Rejection<BuyCode>;
export type PurchaseOutcome = Outcome<PreparedPurchase>;

/**
 * The call that buys each listing, or why it cannot be bought. One round of chain queries serves all of them, except
 * those whose partner has to authorize the fill: there the partner is called once for each.
 */
export async function buyListings(
  market: Market,
  request: BuyRequest,
  now: Date,
): Promise<Outcome<PreparedPurchase>[]> {
  const { chainId, items } = request;
  if (await market.isPaused("buying")) {
    return items.map(() => reject("buying_disabled", "Buying is paused"));
  }
  const askIds = items.map(({ askId }) => askId);
  const found = await findBuyableListings(market, { chainId, askIds }, now);
  const listings = found.map((one, index) =>
    isRejection(one) ? one : { ...one, units: items[index]?.units ?? null },
  );
  const choice = { ...request, now, tag: serviceTag(market.prefix) };
  const pendingResults = queryListings(market, choice, listings);
  const atPartners = new Map<Hex, ReturnType<typeof buyFromPartner>>();
  const askPartner = (listing: RequestedListing) => {
    const { orderHash } = listing.order;
    const asked =
      atPartners.get(orderHash) ?? buyFromPartner(partnerOf(market, listing), listing, choice);
    atPartners.set(orderHash, asked);
    return asked;
  };
  return await Promise.all(
    listings.map(async (listing) => {
      if (isRejection(listing)) return listing;
      const { askId, row } = listing;
      const results = await pendingResults;
      const purchase = isFilledByPartner(listing)
        ? (rejectBeforeAsking(listing, results, choice) ?? (await askPartner(listing)))
        : preparePurchase(listing, results, choice);
      if (isRejection(purchase)) return purchase;
      const rejection = checkMaxPrice(purchase, request.maxWei);
      if (rejection !== null) return rejection;
      // As stored: a partner's order may name a time that no date holds.
      const endsAt = new Date(Number(row.endTime) * 1000);
      return { askId, chainId, purchase, endsAt: earlierOf(purchase.validUntil, endsAt) };
    }),
  );
}

/** With the units of the request. */
type RequestedListing = BuyableListing & Pick<BuyItem, "units">;

const isFilledByPartner = ({ row }: BuyableListing) =>
  partnersFillingByApi.includes(row.marketplace);

const partnerOf = ({ partners }: Market, { row }: BuyableListing) =>
  partners.find(({ name }) => name === row.marketplace);

const earlierOf = (until: Date | null, end: Date) => (until !== null && until < end ? until : end);

function checkMaxPrice({ priceWei }: Purchase, maxWei: bigint | null) {
  if (maxWei === null || priceWei <= maxWei) return null;
  return reject("price_above_max", `The price is ${priceWei} wei, above ${maxWei}`);
}

type Choice = BuyRequest & { now: Date; tag: Hex };

const chainUnavailable = reject("upstream_error", "The chain is unavailable; try again later");

/** Null: nothing to query. */
async function queryListings(
  market: Market,
  choice: Choice,
  listings: readonly (RequestedListing | Rejection)[],
): Promise<ChainResults | typeof chainUnavailable | null> {
  const { chainId, buyer, now } = choice;
  const buyable = listings.filter((one): one is RequestedListing => !isRejection(one));
  const native = buyable.filter((one) => !isFilledByPartner(one));
  const ofListings = native.flatMap((one) => listingQueries(signedOf(one)));
  const ofBuyer = [
    ...native.flatMap((one) => buyerFundsQueries(one, buyer)),
    ...buyable.flatMap((one) => buyerQueries(one, choice)),
    ...buyable.filter(isFilledByPartner).flatMap(({ order }) => unsignedQueries(order)),
  ];
  if (ofListings.length + ofBuyer.length === 0) return null;
  try {
    const results = await market.queryChain(chainId, [...ofListings, ...ofBuyer]);
    // What is asked of a buyer is not part of any order and is not recorded.
    const readings = readingsOf(results, ofListings);
    await recordReadings(market, { chainId, basis: results.basis, readings }, now);
    return results;
  } catch (error) {
    if (error instanceof RpcFailure) return chainUnavailable;
    throw error;
  }
}

/** A listing that is buyable without its partner always has a signature. */
function signedOf({ order }: BuyableListing): CheckedOrder {
  return {
    ...order,
    signature: order.signature ?? "0x",
    terms: { ...order.terms, fees: [] },
  };
}

function buyerFundsQueries(
  { row: { currency } }: BuyableListing,
  buyer: Address | null,
): ChainQuery[] {
  if (currency === null || buyer === null) return [];
  return [
    { kind: "balance_read", currency, owner: buyer },
    { kind: "allowance_read", currency, owner: buyer },
  ];
}

function preparePurchase(
  listing: RequestedListing,
  results: ChainResults | typeof chainUnavailable | null,
  choice: Choice,
): Outcome<Purchase> {
  const { buyer, now, tag } = choice;
  if (results === null || isRejection(results)) return chainUnavailable;
  const order = signedOf(listing);
  const fillable = evaluateListing(order, results, now);
  if (isRejection(fillable)) return toBuyRejection(fillable);
  const units = listing.units ?? fillable;
  const refused = validateUnits(units, fillable, order.components);
  if (refused !== null) return refused;
  const rejection = validateBuyer(listing, results, choice);
  if (rejection !== null) return rejection;
  const { currency } = listing.row;
  const funds = fundsOf(listing, results, buyer);
  return buildPurchase(order, { units, recipient: buyer ?? zeroAddress, tag, currency, funds });
}

/** What the chain says against a partner's listing; without the chain the partner's answer decides. */
function rejectBeforeAsking(
  listing: RequestedListing,
  results: ChainResults | typeof chainUnavailable | null,
  choice: Choice,
) {
  if (results === null || isRejection(results)) return null;
  const rejection = evaluateUnsigned(listing.order, results);
  if (rejection !== null) return toBuyRejection(rejection);
  return validateBuyer(listing, results, choice);
}

function fundsOf(listing: BuyableListing, results: ChainResults, buyer: Address | null) {
  const { currency } = listing.row;
  if (currency === null || buyer === null) return { balanceWei: null, allowanceWei: null };
  const money = { currency, owner: buyer };
  return {
    balanceWei: results.find({ kind: "balance_read", ...money })?.wei ?? null,
    allowanceWei: results.find({ kind: "allowance_read", ...money })?.wei ?? null,
  };
}

/** A listing to buy. */
type BuyItem = {
  askId: string;
  /** Null: all units left. */
  units: bigint | null;
};

/** A request to buy listings. */
type BuyRequest = {
  chainId: ChainId;
  items: readonly BuyItem[];
  /** Receives the token; null: the sender of the transaction. */
  buyer: Address | null;
  /** Most that all units may cost. */
  maxWei: bigint | null;
  /** Who asks, and may use a part of what a partner gives. */
  caller: string;
};

type Receiving = Pick<BuyRequest, "buyer">;

/**
 * The transfer to the buyer, of whom the chain is asked as of a maker's recipients: of ERC-1155 units the buyer's own code
 * decides, if it has any; an ERC-721 token is transferred without a call of it, but the collection may refuse it.
 */
function deliveryQuery({ row, order, units }: RequestedListing, { buyer }: Receiving) {
  const { contract, tokenId, standard } = order.terms;
  const owner = order.components.offerer;
  if (buyer === null || tokenId === null) return null;
  if (standard === "erc1155") {
    const taken = { recipient: buyer, units: units ?? row.fillable };
    return { kind: "receipt", contract, tokenId, owner, ...taken } as const;
  }
  // Other conduits are none of those that the simulation stands for.
  if (order.components.conduitKey !== commonConduit.key) return null;
  return { kind: "transfer_read", contract, tokenId, owner, standard, to: buyer } as const;
}

function buyerQueries(listing: RequestedListing, receiving: Receiving): ChainQuery[] {
  const query = deliveryQuery(listing, receiving);
  return query === null ? [] : [query];
}

/** Why the buyer cannot receive the token; null: nothing speaks against it. An unknown answer is no refusal. */
function validateBuyer(
  listing: RequestedListing,
  results: ChainResults,
  receiving: Receiving,
): Rejection<"transfer_restricted"> | null {
  const query = deliveryQuery(listing, receiving);
  if (query === null) return null;
  const { contract, tokenId } = query;
  const token = `token ${tokenId} of ${contract}`;
  const message =
    query.kind === "receipt"
      ? results.find(query)?.taken === false &&
        `the code of ${receiving.buyer} does not take ${token} (ERC-1155: onERC1155Received)`
      : results.find(query)?.allowed === false &&
        `the collection does not allow a transfer of ${token} to ${receiving.buyer}`;
  if (message === false) return null;
  return reject("transfer_restricted", `buyer: ${message}`, [{ field: "buyer", message }]);
}

/** Whether so many of the units that can be bought may be bought at once; null: they may. */
function validateUnits(
  units: bigint,
  fillable: bigint,
  components: OrderComponents,
): Rejection<"bad_amount"> | null {
  if (units > fillable) {
    return reject("bad_amount", `amount: ${fillable} units can be bought now, not ${units}`);
  }
  if (units < fillable && isFilledWhole(components)) {
    return reject("bad_amount", `amount: this order can only be bought whole: ${fillable} units`);
  }
  return null;
}

type Code =
  | "buyer_required"
  | "bad_amount"
  | "unavailable"
  | "unsupported_order"
  | "unsupported_marketplace"
  | "order_mismatch"
  | "upstream_error"
  | "partner_rate_limited";

/**
 * The call by which `buyer` buys a listing whose partner has to authorize each fill. The partner's fulfillment is
 * accepted only if it fills exactly that order at its price.
 */
async function buyFromPartner(
  partner: Partner | undefined,
  { row, order, units: requested }: RequestedListing,
  request: Omit<BuyRequest, "maxWei" | "items"> & { tag: Purchase["data"] },
): Promise<Purchase | Rejection<Code>> {
  const { chainId, buyer, caller, tag } = request;
  if (partner?.fetchFulfillment === undefined) {
    return reject(
      "unsupported_marketplace",
      `Listings of ${row.marketplace} cannot be bought here`,
    );
  }
  if (buyer === null) {
    const message = `${row.marketplace} authorizes a purchase for a named buyer only`;
    return reject("buyer_required", `buyer: ${message}`, [{ field: "buyer", message }]);
  }
  const units = requested ?? row.fillable;
  const { orderHash, components } = order;
  const refused = validateUnits(units, row.fillable, components);
  if (refused !== null) return refused;
  const { counter } = components;
  const asked = { orderHash, counter, buyer, units, caller };
  const fulfillment = await partner.fetchFulfillment(chainId, asked);
  if (isRejection(fulfillment)) return fulfillment;
  const priceWei = row.unitPriceWei * units;
  if (!fillsUnits(fulfillment, units) || fulfillment.value !== priceWei) {
    return reject("order_mismatch", "The partner's fulfillment does not match the listing");
  }
  const { numerator, denominator, signature, extraData, fulfillerConduitKey } = fulfillment;
  const parameters = orderParameters(fulfillment.components);
  const advanced = { parameters, numerator, denominator, signature, extraData };
  const fill = { order: advanced, fulfillerConduitKey, recipient: buyer };
  return {
    ...fill,
    units,
    data: encodePurchase(fill, tag),
    valueWei: priceWei,
    priceWei,
    currency: null,
    payment: null,
    validUntil: fulfillment.validUntil,
  };
}

/** Whether the fraction of the order that is filled equals `units`. */
function fillsUnits({ components, numerator, denominator }: Fulfillment, units: bigint): boolean {
  return denominator > 0n && orderQuantity(components) * numerator === units * denominator;
}
