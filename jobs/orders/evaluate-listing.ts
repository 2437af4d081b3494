import { commonConduit } from "#abis/deployments.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { isFilledWhole, orderQuantity } from "#projections/domain/seaport/fill.ts";
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

function listingQuerySet(listing: CheckedOrder) {
  const { contract, standard, tokenId } = listing.terms;
  if (tokenId === null) throw new TypeError(`Listing ${listing.orderHash} is for no token`);
  return {
    ...orderQueries(listing),
    ...transferQueries({ contract, standard, tokenId }, listing.components.offerer),
  };
}

/** Chain state of a listing. */
export function listingQueries(listing: CheckedOrder): ChainQuery[] {
  return Object.values(listingQuerySet(listing));
}

/** Units that the exchange would sell now, or why it would sell none. */
export function evaluateListing(listing: CheckedOrder, results: ChainResults, now: Date) {
  const left = evaluateOrder(listing, results, now);
  if (isRejection(left)) return left;
  const held = heldUnits(listingQuerySet(listing), results);
  if (held === undefined) return chainUnavailable();
  if (held === 0n) return reject("not_owner", "The maker no longer holds the token");
  const fillable = left < held ? left : held;
  if (fillable < orderQuantity(listing.components) && isFilledWhole(listing.components))
    return reject(
      "not_owner",
      "The maker no longer holds all units, and the order is filled whole",
    );
  return evaluateTransfer(listing, results) ?? fillable;
}

function evaluateTransfer(listing: CheckedOrder, results: ChainResults) {
  const queries = listingQuerySet(listing);
  const isApproved = isConduitApproved(queries, results);
  if (isApproved === undefined || results.find(queries.channel) === undefined)
    return chainUnavailable();
  if (!isApproved) {
    const conduit = commonConduit.address;
    return reject(
      "not_approved",
      `The maker has not approved ${conduit} on the collection or for the token`,
    );
  }
  return evaluateConduit(queries, results);
}

/** A listing whose signature only its marketplace has. */
type UnsignedListing = Pick<CheckedOrder, "orderHash" | "components"> & {
  terms: Pick<CheckedOrder["terms"], "contract" | "standard" | "tokenId" | "quantity">;
};

function unsignedQuerySet({ orderHash, components, terms }: UnsignedListing) {
  const { contract, standard, tokenId } = terms;
  if (tokenId === null) throw new TypeError(`Listing ${orderHash} is for no token`);
  const {
    channel: _,
    transfer: __,
    ...token
  } = transferQueries({ contract, standard, tokenId }, components.offerer);
  return {
    status: { kind: "order_status_read", orderHash },
    counter: { kind: "counter_read", maker: components.offerer },
    ...token,
  } as const;
}

/** Chain state of a listing that does not depend on its signature. */
export function unsignedQueries(listing: UnsignedListing): ChainQuery[] {
  return Object.values(unsignedQuerySet(listing));
}

/** Why the exchange would not sell the listing whatever its signature; null: nothing known speaks against it. */
export function evaluateUnsigned(listing: UnsignedListing, results: ChainResults) {
  const { components, terms } = listing;
  const queries = unsignedQuerySet(listing);
  const status = results.find(queries.status);
  const counter = results.find(queries.counter);
  if (status !== undefined && status.size > 0n && status.filled >= status.size)
    return reject("order_filled", "The order is filled");
  if (status?.cancelled || (counter !== undefined && counter.counter !== components.counter))
    return reject("order_cancelled", "The order is cancelled");
  const { holding } = queries;
  const held =
    holding.kind === "units_read"
      ? results.find(holding)?.units
      : isSameOwner(results.find(holding)?.owner, components.offerer);
  if (held === 0n || held === false)
    return reject("not_owner", `The maker no longer holds token ${terms.tokenId}`);
  const isCommon = components.conduitKey === commonConduit.key;
  if (isCommon && isConduitApproved(queries, results) === false)
    return reject("not_approved", "The maker has not approved the conduit for the token");
  return null;
}

const isSameOwner = (owner: string | null | undefined, maker: string) =>
  owner === undefined ? undefined : owner === maker;

export type BuyRejection = Rejection<"inactive" | "unavailable" | "upstream_error">;

const permanentCodes: ReadonlySet<string> = new Set([
  "order_filled",
  "order_cancelled",
  "order_expired",
]);

/** Maps to the codes of buying: temporary (`inactive`), permanent (`unavailable`) or unknown (`upstream_error`). */
export function toBuyRejection({ rejected, message }: Rejection): BuyRejection {
  if (rejected === "rpc_unavailable") return reject("upstream_error", message);
  const code = permanentCodes.has(rejected) ? "unavailable" : "inactive";
  return reject(code, message, [{ field: "askId", actual: rejected, message }]);
}
