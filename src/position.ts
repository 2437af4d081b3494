import type { Address, Hex } from "viem";

/** The part of Ponder's event that says where it stands. */
export type Placed = {
  id: string;
  log: { address: Address; logIndex: number };
  block: { number: bigint; hash: Hex; timestamp: bigint };
  transaction: { hash: Hex; transactionIndex: number };
};

/** Where on which chain an event stands. */
export function position(event: Placed, chainId: number) {
  return {
    id: event.id,
    chainId,
    address: lowerCase(event.log.address),
    blockNumber: event.block.number,
    blockHash: event.block.hash,
    blockTimestamp: event.block.timestamp,
    transactionHash: event.transaction.hash,
    transactionIndex: event.transaction.transactionIndex,
    logIndex: event.log.logIndex,
  };
}

export function lowerCase(hex: Hex): Hex {
  return hex.toLowerCase() as Hex;
}
