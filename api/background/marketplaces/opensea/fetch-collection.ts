import type { Address } from "viem";
import type { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { chainNameAt } from "#chains/partners.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { isServiceRecipient } from "../parse-listing.ts";
import { parseResponse } from "../parse-response.ts";
import type { Partner, PartnerCollection } from "../partner.ts";
import type { Transport } from "../transport.ts";
import { CollectionResponse, ContractResponse } from "./response-schemas.ts";

type CollectionResult = Awaited<ReturnType<NonNullable<Partner["fetchCollection"]>>>;

/** A contract's collection: one request for its slug, one for the collection. */
export async function fetchCollection(
  transport: Transport,
  chainId: ChainId,
  contract: Address,
  caller?: string,
): Promise<CollectionResult> {
  const get = (path: string) => transport.send({ method: "GET", path, budget: "read", caller });
  const missing = reject("not_found", `OpenSea does not know a collection of ${contract}`);
  const contractResponse = await get(
    `/api/v2/chain/${chainNameAt("opensea", chainId)}/contract/${contract}`,
  );
  const known = parseResponse(contractResponse, ContractResponse, [400, 404]);
  if (isRejection(known)) return known;
  if (!known?.collection) return missing;
  const collectionResponse = await get(
    `/api/v2/collections/${encodeURIComponent(known.collection)}`,
  );
  const found = parseResponse(collectionResponse, CollectionResponse);
  if (isRejection(found)) return found;
  // Stream topics use the contract's slug, which may differ from the collection's.
  return found === null ? missing : { ...collectionOf(found, chainId), slug: known.collection };
}

/** Shares are contractResponse as percents. */
export function collectionOf(
  { collection, contracts, fees }: z.output<typeof CollectionResponse>,
  chainId: ChainId,
): PartnerCollection {
  return {
    slug: collection,
    contracts: contracts
      .filter(({ chain }) => chain === chainNameAt("opensea", chainId))
      .map(({ address }) => address),
    fees: fees.map(({ fee, recipient, required }) => ({
      recipient,
      bps: Math.round(fee * 100),
      isRequired: required,
      isService: isServiceRecipient("opensea", recipient),
    })),
  };
}
