import { type Address, type Hex, keccak256, stringToHex } from "viem";
import type { ChainId } from "#chains/index.ts";
import { contentIdentity, type Observation } from "../log/append.ts";
import type { ReadingBasis } from "../log/readings.ts";

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

type Registration = {
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

/** A share of the price. Without recipient: no royalty. */
export type StatedRoyalty = { recipient: Address | null; bps: number };

type ContractRoyalty = {
  chainId: ChainId;
  contract: Address;
  royalty: StatedRoyalty;
  basis: ReadingBasis;
};

/** The royalty that a contract states by ERC-2981 at a block, for one token in place of all. */
export function contractRoyaltyStated({
  chainId,
  contract,
  royalty: { recipient, bps },
  basis,
}: ContractRoyalty): Observation {
  const content = ["royalty_stated", "erc2981", chainId, contract, basis.hash, recipient, bps];
  return {
    kind: "royalty_stated",
    chainId,
    contract,
    identity: contentIdentity(content),
    recordedAt: new Date(),
    basis,
    payload: { source: "erc2981", recipient, bps },
  };
}

/** The royalty that a contract states for one of its tokens, and not for all. */
export function tokenRoyaltyStated({
  tokenId,
  ...stated
}: ContractRoyalty & { tokenId: bigint }): Observation {
  const { chainId, contract, basis } = stated;
  const payload = { source: "erc2981_token", tokenId: String(tokenId), ...stated.royalty };
  return {
    kind: "royalty_stated",
    chainId,
    contract,
    identity: contentIdentity(["royalty_stated", chainId, contract, basis.hash, payload]),
    recordedAt: new Date(),
    basis,
    payload,
  };
}

type OperatorRoyalty = {
  chainId: ChainId;
  contract: Address;
  /** Null: the operator's decision is withdrawn, and the other sources count again. */
  royalty: StatedRoyalty | null;
  at: Date;
};

/** The royalty of a contract as an operator decides it, over all other sources. */
export function operatorRoyaltyStated({
  chainId,
  contract,
  royalty,
  at,
}: OperatorRoyalty): Observation {
  const payload = { source: "operator", recipient: null, bps: null, ...royalty };
  const content = ["royalty_stated", chainId, contract, payload, at.getTime()];
  return {
    kind: "royalty_stated",
    chainId,
    contract,
    identity: contentIdentity(content),
    recordedAt: at,
    payload,
  };
}
