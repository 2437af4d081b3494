import { commonConduit } from "#abis/deployments.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import type { BuyRequest } from "./buy-request.ts";
import type { BuyableListing } from "./find-buyable-listings.ts";

type Receiving = Pick<BuyRequest, "buyer" | "units">;

/**
 * The transfer to the buyer, of whom the chain is asked as of a maker's recipients: of ERC-1155 units the buyer's own code
 * decides, if it has any; an ERC-721 token is transferred without a call of it, but the collection may refuse it.
 */
function deliveryQuery({ row, order }: BuyableListing, { buyer, units }: Receiving) {
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

export function buyerQueries(listing: BuyableListing, receiving: Receiving): ChainQuery[] {
  const query = deliveryQuery(listing, receiving);
  return query === null ? [] : [query];
}

/** Why the buyer cannot receive the token; null: nothing speaks against it. An unknown answer is no refusal. */
export function validateBuyer(
  listing: BuyableListing,
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
