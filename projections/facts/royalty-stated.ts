import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import { type Observation, contentIdentity } from "../log/append.ts";
import type { ReadingBasis } from "../log/readings.ts";

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
