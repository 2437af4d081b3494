import { type Address, type Hex, keccak256, stringToHex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { Observation } from "../log/append.ts";

/** A collection of the curated file, of one contract or several. Addresses are lower case. */
export type CuratedCollection = {
  chainId: ChainId;
  slug: string;
  name: string;
  verified: boolean;
  /** One of `contracts`; identifies the collection. */
  primary: Address;
  contracts: Address[];
  /** Block of the first deployment, if before the chain's start block. */
  fromBlock?: number | undefined;
  /** Creator fee for contracts without ERC-2981. */
  royalty?: { recipient: Address; bps: number } | undefined;
};

export type Registration = {
  chainId: number;
  /** The primary contract of the collection. */
  primary: Address;
  /** What is said of it; with `removed` true and no contracts: that nothing is. */
  payload: object;
  /** Position of the entry it replaces; 0 for the first one. */
  replaces: bigint;
  recordedAt: Date;
};

/** An entry of the registry. Content and what it replaces make a fact: a change taken back is a change too. */
export function collectionRegistered(registration: Registration): Observation {
  const { chainId, primary, payload, replaces, recordedAt } = registration;
  return {
    kind: "collection_registered",
    chainId,
    contract: primary,
    identity: registryIdentity(chainId, payload, replaces),
    recordedAt,
    payload,
  };
}

export function registryIdentity(chainId: number, payload: object, replaces: bigint): Hex {
  const sorted = Object.entries(payload).sort(([one], [other]) => (one < other ? -1 : 1));
  return keccak256(
    stringToHex(JSON.stringify(["collection_registered", chainId, replaces.toString(), sorted])),
  );
}
