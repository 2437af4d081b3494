import type { Hex } from "viem";

type PonderEvent = {
  block: { number: bigint; hash: Hex; timestamp: bigint };
  transaction: { hash: Hex };
};

/** An event's position columns. */
export const placeOf = ({ block, transaction }: PonderEvent) => ({
  blockNumber: block.number,
  transactionHash: transaction.hash,
  timestamp: block.timestamp,
});
