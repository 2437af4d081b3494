import type { Address } from "viem";
import type { z } from "zod";
import type { ChainId } from "../../../../abis/deployments.ts";
import { isRejection, reject } from "../../../../projections/domain/rejection.ts";
import { parseAnswer } from "../parse-answer.ts";
import type { Partner, PartnerCollection } from "../partner.ts";
import { isServiceRecipient } from "../recognize-listing.ts";
import type { Transport } from "../transport.ts";
import { chainNames } from "./chain-names.ts";
import { CollectionAnswer, ContractAnswer } from "./shapes.ts";

type Found = Awaited<ReturnType<NonNullable<Partner["fetchCollection"]>>>;

/** A contract's collection: its slug is asked for first, by which the rest is found. */
export async function fetchCollection(
  transport: Transport,
  chainId: ChainId,
  contract: Address,
): Promise<Found> {
  const get = (path: string) => transport.ask({ method: "GET", path, budget: "read" });
  const missing = reject("not_found", `OpenSea knows no collection of ${contract}`);
  const told = await get(`/api/v2/chain/${chainNames[chainId]}/contract/${contract}`);
  const known = parseAnswer(told, ContractAnswer, [400, 404]);
  if (isRejection(known)) return known;
  if (!known?.collection) return missing;
  const answer = await get(`/api/v2/collections/${encodeURIComponent(known.collection)}`);
  const found = parseAnswer(answer, CollectionAnswer);
  if (isRejection(found)) return found;
  // Topics of its stream go by the contract's slug, which the collection may tell otherwise.
  return found === null ? missing : { ...collectionOf(found, chainId), slug: known.collection };
}

/** Shares are told as percents. */
export function collectionOf(
  { collection, contracts, fees }: z.output<typeof CollectionAnswer>,
  chainId: ChainId,
): PartnerCollection {
  return {
    slug: collection,
    contracts: contracts
      .filter(({ chain }) => chain === chainNames[chainId])
      .map(({ address }) => address),
    fees: fees.map(({ fee, recipient, required }) => ({
      recipient,
      bps: Math.round(fee * 100),
      isRequired: required,
      isService: isServiceRecipient("opensea", recipient),
    })),
  };
}
