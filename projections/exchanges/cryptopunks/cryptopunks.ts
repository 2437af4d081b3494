import { type Address, decodeEventLog, type Hex, toEventSelector, zeroAddress } from "viem";
import { cryptopunksAddress, cryptopunksEvents } from "#abis/cryptopunks.ts";
import {
  type Exchange,
  type ExchangeTransaction,
  type Fill,
  type PlacedEvent,
  sourceOf,
  type TokenTransfer,
  type Trade,
  translateEvents,
  UnresolvableEvent,
} from "../model/exchange.ts";

type Bought = { punkIndex: string; value: string; fromAddress: Address; toAddress: Address };

/** The market takes no fee. */
function tradesOf(transaction: ExchangeTransaction): Fill[] {
  return translateEvents(transaction, (event) =>
    event.event === "PunkBought" ? tradeOf(event, transaction.transfers) : null,
  );
}

function tradeOf(event: PlacedEvent, transfers: readonly TokenTransfer[]): Trade {
  const { contract, logIndex, args } = event;
  const { punkIndex: tokenId, fromAddress: seller, toAddress } = args as Bought;
  const transfer = transfers.find((one) => one.logIndex === logIndex && one.tokenId === tokenId);
  if (transfer === undefined) throw new UnresolvableEvent("transfer_missing");
  const { to: buyer } = transfer;
  return {
    items: [{ contract, tokenId, units: 1n, seller, buyer, transfer }],
    currency: zeroAddress,
    ...(toAddress === zeroAddress ? bidTaken(event, buyer) : offerTaken(event)),
    fees: [],
    exchange: contract,
    protocolVersion: "1",
    orderHash: null,
    logIndex,
    zones: [],
  };
}

function offerTaken({ args }: PlacedEvent) {
  return { side: "ask" as const, totalWei: BigInt((args as Bought).value) };
}

/** The contract deletes the bid before it emits the event, which says zero. */
function bidTaken({ bid }: PlacedEvent, buyer: Address) {
  if (bid === undefined) throw new UnresolvableEvent("price_unknown");
  if (bid.bidder !== buyer) throw new UnresolvableEvent("transfer_mismatch");
  return { side: "bid" as const, totalWei: BigInt(bid.wei) };
}

/** Assignments, transfers and bids are facts of other kinds; `projections/log/recording/pools-and-punks.ts` makes the rest of them. */
export const cryptopunks: Exchange = {
  protocol: "cryptopunks",
  marketplace: "cryptopunks",
  sources: [
    {
      ...sourceOf("cryptopunks", "CryptoPunks", cryptopunksEvents, ["PunkBought"]),
      isEachWithTransfers: true,
    },
  ],
  tradesOf,
};

type Log = { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex };

const transferSelector = toEventSelector("Transfer(address,address,uint256)");

export const isOfCryptopunks = ({ address }: Log): boolean => address === cryptopunksAddress;

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
