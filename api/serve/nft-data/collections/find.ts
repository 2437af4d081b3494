import type { Hex } from "viem";
import { noCollection, referTo } from "#api/serve/v1/collections/reference.ts";
import type { NftDataContext } from "../context.ts";

/** The collection of a contract, or the refusal. */
export async function findByAddress({ db, chainId }: NftDataContext, address: Hex) {
  return (await referTo(db, chainId, address)) ?? noCollection(chainId, address);
}
