import type { RawBuilder } from "kysely";
import type { AbiEvent, Address, Hex } from "viem";
import type { Chain, Deployment } from "#chains/chain.ts";
import type { FactWindow } from "#projections/engine/projection.ts";
import type { TokenTransfer } from "#projections/facts/token-transfer.ts";
import type { FactKind } from "#projections/log/fact-kinds.ts";
import type { Fill } from "./trade.ts";

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
