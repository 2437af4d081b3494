import { type RawBuilder, sql } from "kysely";

/**
 * Kinds of facts and the number each is stored under. Numbers are permanent.
 * The typed columns of `log.fact` for each kind: `projections/log/README.md`.
 */
export const factKind = {
  block_retracted: 1,
  block_readopted: 2,

  erc721_transfer: 10,
  erc721_consecutive_transfer: 11,
  erc1155_transfer: 12,
  metadata_changed: 13,

  approval_for_all: 20,
  erc20_approval: 21,
  erc20_transfer: 22,
  wrapped_deposit: 23,
  wrapped_withdrawal: 24,

  order_fulfilled: 30,
  order_cancelled: 31,
  counter_incremented: 32,
  order_validated: 33,
  orders_matched: 34,
  exchange_event: 35,
  bid_entered: 36,
  pool_created: 37,

  channel_updated: 40,

  collection_registered: 60,
  contract_described: 61,
  creator_fee_read: 62,

  partner_listing_seen: 63,
  partner_listing_withdrawn: 64,
  cross_listing_submitted: 65,
  cross_listing_answered: 66,
  royalty_stated: 67,

  order_submitted: 70,
  order_status_read: 71,
  counter_read: 72,
  approval_read: 73,
  owner_read: 74,
  units_read: 75,
  balance_read: 76,
  allowance_read: 77,
  transfer_read: 78,
  signature_read: 79,
  channel_read: 80,
  clock_ticked: 81,
  recipients_read: 82,
  token_approval_read: 83,

  token_set_submitted: 84,

  price_ticked: 90,
  floor_snapshotted: 91,

  token_metadata_fetched: 92,
  contract_metadata_fetched: 93,
  metadata_confirmed: 94,

  fact_quarantined: 95,
  fact_released: 96,

  operator_action_started: 97,
  operator_action_ended: 98,

  history_repaired: 99,
} as const;

export type FactKind = keyof typeof factKind;

/** A kind's number as a literal: partial indexes are not found by parameters. */
export const kindLiteral = (kind: FactKind): RawBuilder<number> =>
  sql.raw<number>(String(factKind[kind]));

/** Kinds as a list for `in`. */
export function kindList(...kinds: readonly FactKind[]): RawBuilder<unknown> {
  return sql.raw(`(${kinds.map((kind) => factKind[kind]).join(", ")})`);
}

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
  IndexedMetadataUpdates: {
    MetadataUpdate: "metadata_changed",
    BatchMetadataUpdate: "metadata_changed",
  },
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
