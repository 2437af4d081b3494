import type { Hex } from "viem";

type Placed = {
  block: { number: bigint; hash: Hex; timestamp: bigint };
  transaction: { hash: Hex };
};

/** Where an event stands, as activity tells it. */
export const placeOf = ({ block, transaction }: Placed) => ({
  blockNumber: block.number,
  transactionHash: transaction.hash,
  timestamp: block.timestamp,
});
