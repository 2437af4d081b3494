import { type Address, decodeEventLog, type Hex, toEventSelector, zeroAddress } from "viem";
import { cryptopunks, cryptopunksEvents } from "#abis/cryptopunks.ts";
import type { TokenTransfer } from "#projections/facts/token-transfer.ts";

type Log = { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex };

const transferSelector = toEventSelector("Transfer(address,address,uint256)");

export const isOfCryptopunks = ({ address }: Log): boolean => address === cryptopunks;

/**
 * The transfer of a punk that a log of a receipt is, if it is one. `PunkBought` names no buyer where a bid was taken: the
 * `Transfer` right before it does. Throws where a log is none of the contract's events.
 */
export function punkTransfer(
  logs: readonly Log[],
  index: number,
): Pick<TokenTransfer, "standard" | "from" | "to" | "tokenId" | "amount"> | null {
  const log = logs[index];
  if (log === undefined || log.topics[0] === transferSelector) return null;
  const { topics, data } = log;
  const event = decodeEventLog({ abi: cryptopunksEvents, topics: topics as [Hex, ...Hex[]], data });
  switch (event.eventName) {
    case "Assign":
      return moved(event.args.punkIndex, zeroAddress, event.args.to);
    case "PunkTransfer":
      return moved(event.args.punkIndex, event.args.from, event.args.to);
    case "PunkBought": {
      const { punkIndex, fromAddress, toAddress } = event.args;
      const to = toAddress === zeroAddress ? receiverBefore(logs, index) : toAddress;
      return to === null ? null : moved(punkIndex, fromAddress, to);
    }
    default:
      return null;
  }
}

function moved(punkIndex: bigint, from: Address, to: Address) {
  const parties = { from: from.toLowerCase() as Address, to: to.toLowerCase() as Address };
  return { standard: "erc721" as const, ...parties, tokenId: `${punkIndex}`, amount: "1" };
}

function receiverBefore(logs: readonly Log[], index: number): Address | null {
  const transfer = logs
    .slice(0, index)
    .findLast((log) => isOfCryptopunks(log) && log.topics[0] === transferSelector);
  const topic = transfer?.topics[2];
  return topic === undefined ? null : `0x${topic.slice(-40)}`;
}
