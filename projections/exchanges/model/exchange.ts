import type { RawBuilder } from "kysely";
import type { AbiEvent, Address, Hex } from "viem";
import type { Chain, Deployment, ExchangeSources } from "#chains/chain.ts";
import type { FactWindow } from "#projections/engine/projection.ts";
import type { FactKind } from "#projections/log/fact-kinds.ts";

/** Contracts of an exchange and those of their events that are indexed. */
export type ExchangeSource = {
  /** Stored with each event: permanent, and unique among the sources of all exchanges. */
  readonly name: string;
  readonly events: readonly AbiEvent[];
  /** Names of the events that are stored with their transaction's sender, target and calldata tail. */
  readonly eventsWithCall: readonly string[];
  /**
   * Names of the events whose transactions are stored with all their transfers of NFTs and coins, read from the
   * receipt: where an event leaves out a party or the price, or a router may hand the token on.
   */
  readonly eventsWithTransfers?: readonly string[];
  /** Each of these events is stored with them, not the first of a transaction alone: the recorder reads a party there. */
  readonly isEachWithTransfers?: true;
  /** Its contracts on a chain, as the chain's file lists them; null: it is not there. */
  readonly deployed: (chain: Chain) => Deployment | null;
};

/** A source of an exchange. `trades`: events that are stored with their transaction's call and transfers; absent: all. */
export function sourceOf<Name extends keyof ExchangeSources>(
  exchange: Name,
  name: ExchangeSources[Name],
  events: readonly AbiEvent[],
  trades: readonly string[] = events.map((event) => event.name),
): ExchangeSource {
  type Deployments = Readonly<Record<string, Deployment | null>> | null;
  return {
    name,
    events,
    eventsWithCall: trades,
    ...(trades.length > 0 && { eventsWithTransfers: trades }),
    deployed: ({ exchanges }) => (exchanges[exchange] as Deployments)?.[name] ?? null,
  };
}

/** A fact that sales are made of. */
export type ExchangeFact = {
  readonly kind: number;
  readonly logIndex: number;
  /** The exchange's contract. */
  readonly contract: Address;
  readonly from: Address | null;
  readonly to: Address | null;
  readonly orderHash: Hex | null;
  /** `ExchangeEvent` for the kind `exchange_event`. */
  readonly payload: unknown;
};

/** An exchange's facts of one transaction, in log order. */
export type ExchangeTransaction = {
  readonly chainId: number;
  readonly hash: Hex;
  readonly facts: readonly ExchangeFact[];
  /** All of the transaction, in log order; empty where no event is stored with them. */
  readonly transfers: readonly TokenTransfer[];
};

/** An exchange: what is indexed of it, and how its events become trades. */
export type Exchange = {
  /** Name of its protocol on the wire. */
  readonly protocol: string;
  /** Marketplace of its sales that no fee recipient, zone or calldata tag attributes; absent: `unknown`. */
  readonly marketplace?: string;
  readonly sources: readonly ExchangeSource[];
  /** Kinds of the facts that its sales are made of; absent: `exchange_event` of its sources. */
  readonly factKinds?: readonly FactKind[];
  /**
   * The trades of a transaction, and the events that announce one but make none (`translateEvents`), in a permanent
   * order: the place of a fill is part of its sales' ids.
   */
  readonly tradesOf: (transaction: ExchangeTransaction) => Fill[];
  /** Its sale ids are made of the sale's number among its sales alone, as they were before there were other exchanges. */
  readonly hasNumberedSaleIds?: true;
  /** Selects in bulk, by SQL alone, sales of transactions with one fact; the rest goes through `tradesOf`. */
  readonly selectSimpleSales?: (window: FactWindow, rules: BulkRules) => RawBuilder<unknown>;
};

export type BulkRules = {
  /** This market's, by which its sales are known. */
  readonly feeRecipient: Address;
  /** Kinds of facts of all exchanges, for `in`. */
  readonly saleKinds: RawBuilder<unknown>;
};

/** Columns of `sales.sale` that `selectSimpleSales` returns, in this order. */
export const simpleSaleColumns = [
  ...["block_id", "transaction_index", "ordinal", "sale_id", "chain_id", "contract_id", "token_id"],
  ...["quantity", "price_wei", "total_wei", "currency", "seller", "buyer", "side", "marketplace"],
  ...["protocol", "protocol_version", "exchange", "order_hash", "fees", "log_index"],
  ...["transaction_hash", "block_number", "block_hash", "timestamp", "is_erc1155"],
];

/** What an event that announces a trade came to. */
export type Fill = Trade | UnresolvedEvent;

/** NFTs sold for one price. More than one item is a bundle. */
export type Trade = {
  readonly items: readonly TradedItem[];
  /** The zero address is the native currency. */
  readonly currency: Address;
  /** What the buyer pays, fees included. */
  readonly totalWei: bigint;
  /** The part of it that does not reach the seller. */
  readonly fees: readonly FeePayment[];
  /** Side of the order that was made first. */
  readonly side: "ask" | "bid";
  readonly exchange: Address;
  readonly protocolVersion: string;
  /** Of the order that was made first; null: the exchange has none. */
  readonly orderHash: Hex | null;
  readonly logIndex: number;
  /** Contracts named by its orders that may belong to a marketplace. */
  readonly zones: readonly Address[];
};

export type NftStandard = "erc721" | "erc1155";

export type TradedItem = {
  readonly contract: Address;
  /** Decimal. */
  readonly tokenId: string;
  /** Absent: that of the transfer, else ERC-721. */
  readonly standard?: NftStandard;
  readonly units: bigint;
  readonly seller: Address;
  /** Who the exchange gave it to. Where the transfers of the transaction are known, they tell who has it in the end. */
  readonly buyer: Address;
  /** Who took the trade for the buyer, where the event names both. */
  readonly via?: Address;
  /** The token stays with somebody else on the buyer's behalf, as a loan's collateral does. */
  readonly isHeldForBuyer?: true;
  /**
   * The transfer, of the transaction's `transfers`, that delivered it; absent: found by the parties. One transfer
   * delivers one sale.
   */
  readonly transfer?: TokenTransfer;
};

export type FeePayment = { readonly recipient: Address; readonly wei: bigint };

/** Why an event that announces a trade makes no sale, in words for an operator. */
export const unresolvedReasons = {
  undecodable: "its arguments are not what the exchange emits",
  unknown_type: "a packed word, an order type or an asset class has a value without a meaning",
  unknown_pool: "the contract is none of the exchange's pools",
  price_unknown: "no log tells what was paid",
  currency_unknown: "neither the exchange nor the transfers tell the coin that was paid",
  zero_price: "nothing was paid",
  price_out_of_range: "the price is above 10^27 wei, or less than its fees",
  units_out_of_range: "it sells no unit of a token, or more than a token has",
  transfer_missing: "the transaction moved no such token as the event says",
  transfer_mismatch: "the token moved between other parties than the event names",
  duplicate: "another event told the same trade",
} as const;
export type UnresolvedReason = keyof typeof unresolvedReasons;

/** An event that announces a trade and makes no sale. */
export type UnresolvedEvent = { readonly unresolved: UnresolvedReason; readonly logIndex: number };

export function isUnresolved<Other extends object>(
  fill: Other | UnresolvedEvent,
): fill is UnresolvedEvent {
  return "unresolved" in fill;
}

/**
 * What an event cannot be read for. Thrown while it is translated, that event alone is unresolved. No `Error`:
 * where it was thrown nobody asks, and recording that for each of many cost as much as translating them.
 */
export class UnresolvableEvent {
  readonly reason: UnresolvedReason;

  constructor(reason: UnresolvedReason) {
    this.reason = reason;
  }
}

/** A transaction of its facts, in log order. Those that are stored with its transfers hold all of them. */
export function exchangeTransaction(
  chainId: number,
  hash: Hex,
  facts: readonly ExchangeFact[],
): ExchangeTransaction {
  return { chainId, hash, facts, transfers: transfersOf(facts) };
}

function transfersOf(facts: readonly ExchangeFact[]): ExchangeTransaction["transfers"] {
  for (const fact of facts) {
    const { transfers } = (fact.payload ?? {}) as Partial<ExchangeEvent>;
    if (transfers && !isOfUnknownPool(fact)) return transfers;
  }
  return [];
}

/**
 * Whether a fact is an event of a pool that no factory created. It costs its contract 900 gas, and changes nothing of the
 * transaction's sales: whoever asks for these alone may leave it out.
 */
export const isOfUnknownPool = ({ payload }: Pick<ExchangeFact, "payload">): boolean =>
  (payload as Partial<ExchangeEvent> | null)?.factory === null;

type Translated = Trade | readonly Trade[] | null;

/** An event of an exchange, with what it is emitted by. */
export type PlacedEvent = ExchangeEvent & Pick<ExchangeFact, "contract" | "logIndex">;

/** The events of a transaction, in log order. */
export function eventsOf({ facts }: ExchangeTransaction): PlacedEvent[] {
  return facts.map(({ contract, logIndex, payload }) => ({
    ...(payload as ExchangeEvent),
    contract,
    logIndex,
  }));
}

/**
 * The fills of a transaction, event by event: `translate` returns a trade or several, or null for an event that
 * announces none.
 * What it throws concerns that event alone: `UnresolvableEvent` with its reason, anything else as `undecodable`.
 */
export function translateEvents(
  transaction: ExchangeTransaction,
  translate: (event: PlacedEvent) => Translated,
): Fill[] {
  return eventsOf(transaction).flatMap((event): Fill[] => {
    try {
      return [translate(event) ?? []].flat();
    } catch (error) {
      const unresolved = error instanceof UnresolvableEvent ? error.reason : "undecodable";
      return [{ unresolved, logIndex: event.logIndex }];
    }
  });
}

/** Payload of `exchange_event`: an event of an exchange as it was emitted. */
export type ExchangeEvent = {
  /** Name of the source in the exchange's entry. */
  readonly source: string;
  readonly event: string;
  /** Integers are decimal strings, bytes and addresses lower-case hex. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The transaction's, where the source stores it: sender, called contract, last four bytes of the calldata. */
  readonly sender: Address | null;
  readonly target: Address | null;
  readonly calldataTail: Hex | null;
  /** The transaction's, in log order: on the first of its events that the source stores with transfers, or on each. */
  readonly transfers?: readonly TokenTransfer[];
  /** Of an event that any contract may emit: who created the contract, if an exchange's factory did. */
  readonly factory?: Address | null;
  /**
   * Of an event of such a contract that is paid in a coin of its own, as the contract says: the zero address for ether,
   * null: it says none. Absent: it was not asked.
   */
  readonly coin?: Address | null;
  /** The bid that a sale of CryptoPunks took, where its event leaves it out: the punk's last one before it. */
  readonly bid?: { readonly bidder: Address; readonly wei: string };
};

/** Whose logs tell of transfers of ether (EIP-7708), in the form of an ERC-20's. They are of no coin. */
export const nativeTransferLogs: Address = "0xfffffffffffffffffffffffffffffffffffffffe";

/** A transfer of an NFT or of a coin in a transaction, as its log says. A batch is one for each of its entries. */
export type TokenTransfer = {
  readonly logIndex: number;
  readonly standard: "erc721" | "erc1155" | "erc20";
  readonly contract: Address;
  readonly from: Address;
  readonly to: Address;
  /** Decimal; null: a coin's. */
  readonly tokenId: string | null;
  /** Units or wei, decimal. */
  readonly amount: string;
};
