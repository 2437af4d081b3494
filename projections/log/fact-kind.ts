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
