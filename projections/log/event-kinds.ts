import { type RawBuilder, sql } from "kysely";
import { type FactKind, factKind } from "./fact-kind.ts";
import { kindLiteral } from "./fact-kind-sql.ts";

const seaportOrders = {
  OrderFulfilled: "order_fulfilled",
  OrderCancelled: "order_cancelled",
  OrderValidated: "order_validated",
  OrdersMatched: "orders_matched",
  CounterIncremented: "counter_incremented",
} as const;

const metadataChanges = {
  MetadataUpdate: "metadata_changed",
  BatchMetadataUpdate: "metadata_changed",
  URI: "metadata_changed",
  ContractURIUpdated: "metadata_changed",
  TraitUpdated: "metadata_changed",
  TraitUpdatedRange: "metadata_changed",
  TraitUpdatedRangeUniformValue: "metadata_changed",
  TraitUpdatedList: "metadata_changed",
  TraitUpdatedListUniformValue: "metadata_changed",
  TraitMetadataURIUpdated: "metadata_changed",
} as const;

/** Kinds of the events whose arguments have columns of their own, by source and name. Others are `exchange_event`. */
export const eventKinds: Readonly<Record<string, Readonly<Record<string, FactKind>>>> = {
  Erc721: { Transfer: "erc721_transfer", ConsecutiveTransfer: "erc721_consecutive_transfer" },
  Erc721Plain: { Transfer: "erc721_transfer" },
  Erc721Unindexed: { Transfer: "erc721_transfer" },
  Erc1155: { TransferSingle: "erc1155_transfer", TransferBatch: "erc1155_transfer" },
  ConduitApproval: { ApprovalForAll: "approval_for_all" },
  ExchangeApproval: { Approval: "erc20_approval" },
  WrappedNative: {
    Transfer: "erc20_transfer",
    Deposit: "wrapped_deposit",
    Withdrawal: "wrapped_withdrawal",
  },
  SudoswapV1Factory: { NewPair: "pool_created" },
  SudoswapV2Factory: { NewERC721Pair: "pool_created", NewERC1155Pair: "pool_created" },
  NftxV2Factory: { NewVault: "pool_created" },
  NftxV3Factory: { NewVault: "pool_created" },
  NftxV3NamedFactory: { NewVault: "pool_created" },
  CryptoPunks: {
    Assign: "erc721_transfer",
    PunkTransfer: "erc721_transfer",
    PunkBidEntered: "bid_entered",
  },
  MetadataUpdates: metadataChanges,
  Conduit: { ChannelUpdated: "channel_updated" },
  Seaport: seaportOrders,
  SeaportLegacy: seaportOrders,
};

/** The number of the kind that a source's event becomes. */
export function eventKindSql(source: RawBuilder<unknown>, name: RawBuilder<unknown>) {
  const sources = Object.entries(eventKinds).map(([sourceName, kinds]) => {
    const names = Object.entries(kinds).map(
      ([eventName, kind]) => sql`when ${sql.lit(eventName)} then ${kindLiteral(kind)}`,
    );
    return sql`when ${sql.lit(sourceName)} then case ${name} ${sql.join(names, sql` `)} end`;
  });
  return sql`coalesce(case ${source} ${sql.join(sources, sql` `)} end, ${sql.lit(factKind.exchange_event)})`;
}
