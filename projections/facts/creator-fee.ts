import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { CreatorFee, FeeReview } from "../domain/royalty.ts";
import { type Observation, contentIdentity } from "../log/append.ts";

export type CreatorFeeReading = {
  chainId: ChainId;
  contract: Address;
  marketplace: string;
  fees: readonly CreatorFee[];
  /** How often the fee changed before: a fee that returns is another fact. */
  change: number;
  /** Whether it takes effect. Absent in facts of earlier versions. */
  review?: FeeReview;
  readAt: Date;
};

/** The creator fees of a collection according to a marketplace; an empty list: none. */
export function creatorFeeRead(reading: CreatorFeeReading): Observation {
  const { chainId, contract, marketplace, change, review, readAt } = reading;
  const fees = reading.fees.map(({ recipient, bps, isRequired }) => ({
    recipient,
    bps,
    isRequired,
  }));
  const content = ["creator_fee_read", chainId, contract, marketplace, fees, change, review];
  return {
    kind: "creator_fee_read",
    chainId,
    contract,
    identity: contentIdentity(content),
    recordedAt: readAt,
    payload: { marketplace, fees, ...(review && { review }) },
  };
}
