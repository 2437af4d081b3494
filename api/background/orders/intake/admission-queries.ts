import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import { recipientsQuery, transferQueries } from "#jobs/orders/evaluate-order.ts";
import { royaltyQueries } from "../market/royalty.ts";
import type { PendingOrder } from "./pending-order.ts";
import type { CheaperListing, StoredContext } from "./read-stored-context.ts";

/** All chain state that an order is validated against. */
export function admissionQueries(pending: PendingOrder, stored: StoredContext): ChainQuery[] {
  const { order } = pending;
  const { components, orderHash, contract } = order;
  const royaltyCase = stored.royaltyCases.get(orderHash);
  return [
    { kind: "counter_read", maker: components.offerer },
    { kind: "order_status_read", orderHash },
    { kind: "standard", contract },
    ...(royaltyCase === undefined ? [] : royaltyQueries([royaltyCase])),
    ...signatureQueries(pending),
    recipientsQuery(order),
    ...(order.side === "ask" ? listingQueries(pending) : bidQueries(pending)),
    ...ownCheaperListings(pending, stored.cheaper).map(
      (one) => ({ kind: "order_status_read", orderHash: one.orderHash }) as const,
    ),
  ];
}

function signatureQueries({ order, signatureCheck }: PendingOrder): ChainQuery[] {
  if (signatureCheck.signedBy === "maker") return [];
  const { orderHash, components, signature } = order;
  const maker = components.offerer;
  return [
    { kind: "code", address: maker },
    { kind: "signature_read", orderHash, maker, order: { components, signature } },
  ];
}

function listingQueries({ order }: PendingOrder): ChainQuery[] {
  const { contract, tokenId, standard, components } = order;
  if (tokenId === null) return [];
  return Object.values(transferQueries({ contract, tokenId, standard }, components.offerer));
}

function bidQueries({ order, terms }: PendingOrder): ChainQuery[] {
  const { contract, tokenId, standard, components } = order;
  const money = { currency: terms.currency, owner: components.offerer };
  return [
    { kind: "balance_read", ...money },
    { kind: "allowance_read", ...money },
    ...(tokenId !== null && standard === "erc721"
      ? [{ kind: "owner_read", contract, tokenId } as const]
      : []),
  ];
}

/** The maker's own open listings of the same token at a lower price. */
export function ownCheaperListings(
  { order }: PendingOrder,
  cheaper: readonly CheaperListing[],
): CheaperListing[] {
  const { side, components, contract, tokenId, unitPriceWei } = order;
  if (side !== "ask") return [];
  return cheaper.filter(
    (one) =>
      one.maker === components.offerer &&
      one.contract === contract &&
      one.tokenId === tokenId &&
      one.unitPriceWei < unitPriceWei,
  );
}
