/** What each code of a refusal means and what helps, in the groups of `/docs/errors`. Texts as in `prose`. */
export const errorGroups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Any request": {
    invalid_parameters:
      "A parameter or member has a value that it may not have; `details` names each one.",
    unknown_parameter:
      "No parameter of this endpoint has the name; `details` has the nearest one that exists.",
    bad_request: "The request is not HTTP, or its body is not JSON.",
    bad_structure: "The body lacks a member or has one of another kind; `details` names each one.",
    payload_too_large: "The body is larger than the endpoint takes. Send less at a time.",
    unsupported_media_type: "Bodies are `application/json`.",
    method_not_allowed: "The path has other methods; they are in `Allow`.",
    headers_too_large: "The headers are larger than the server reads.",
    request_timeout: "The request did not arrive in time. Send it again.",
    not_found:
      "There is nothing at this address. An unknown token, order or collection answers so too.",
    unsupported_chain:
      "This installation does not serve the chain; `/v1/status` lists those it serves.",
    invalid_cursor: "The cursor is of another list, sort or filter. Begin with the first page.",
    use_cursor: "`page` reaches only the first pages. Go on with `cursor` = `meta.next_cursor`.",
    invalid_position: "The position is not the value of an `X-Position` header.",
    internal: "A fault of ours, logged under the `requestId`. The request may be sent again.",
  },
  "Keys and limits": {
    rate_limited:
      "The limit of this minute is used up. Wait for `Retry-After`; a key has a higher limit.",
    invalid_key: "No key is like this one. Requests without a key are answered, too.",
    revoked_key: "Its owner or the operator ended the key.",
    expired_key: "The key's time is over. Make another one.",
    address_not_allowed: "The key may be used from other networks only.",
    insufficient_scope: "The key lacks the scope that the endpoint needs.",
    key_required: "The endpoint answers only with a key.",
    account_required:
      "The endpoint needs a key of an account; one without an account is not enough.",
    instant_keys_paused:
      "Keys without an account are paused. Every endpoint for reading works without one.",
    bad_siwe_message:
      "The message that was signed is not one of ERC-4361 for this service; `message` says what it must name. `POST /v1/auth/siwe/nonce` writes one.",
    siwe_expired:
      "The message is over or not in force yet, or its nonce is unknown or used up. Sign a new one.",
    wrong_signature:
      "Neither the key of the message's address nor its contract signed exactly this message.",
    second_factor_required: "The account has a second factor: send a code of it as `code`.",
    wrong_code: "The code of the second factor is wrong, or was used. Wait for the next one.",
    suspended: "The operator has suspended the account.",
    bad_name: "A key's name has 1 to 60 printable characters.",
    too_many_keys:
      "The account has as many keys as it may. Revoke one, or name one of them: the new key takes its place.",
    no_such_key: "The key of this name was replaced or revoked meanwhile. Sign in again.",
    invalid_credentials: "E-mail address and client key do not belong together.",
    invalid_token:
      "The bearer token is unknown or has expired. Exchange the client key for another one.",
    too_many_streams:
      "Too many streams are open. Close one, or ask `GET /v1/events` again and again.",
  },
  "At a block (`at`)": {
    ambiguous_chain:
      "Several chains are served, and a block number alone is of none of them. Add `chainId`.",
    block_unknown:
      "Nothing that is indexed happened in a block with this hash on this chain. Ask by its number.",
    block_retracted:
      "A reorg took the block back: the chain has another one at its height. Ask by the number.",
    point_not_covered:
      "It is before the first block that is indexed here, or before what is kept of partners' listings; `message` says which.",
    point_not_reached:
      "The chain is not indexed so far yet; `message` names the last block. A time is reached once a later block has a later one.",
    block_not_final:
      "A snapshot is for good, and a reorg may still take the block back. Ask once it is final, or name an earlier one.",
    snapshot_empty: "Nobody held what the snapshot is asked of, or everybody is left out.",
    snapshot_too_large:
      "More addresses hold it than one snapshot has, or more units than a contract counts. Ask about fewer collections.",
    too_much_to_fold:
      "Too much was moved up to the block or since for one answer. Ask about one token, or a later block.",
  },
  "At this moment": {
    overloaded: "Too much of this kind is in progress. Send it again after `Retry-After`.",
    database_unavailable:
      "The database cannot be read at present. Send it again after `Retry-After`.",
    query_timeout: "The answer took too long to make. Ask for less, or again after `Retry-After`.",
    position_not_reached:
      "The data is not as new as `X-Min-Position` asks yet. Send it again after `Retry-After`.",
    rpc_unavailable:
      "No node of the chain answered, so that nothing could be checked. Nothing was stored.",
    upstream_error: "What the answer needs from elsewhere could not be had.",
    partner_rate_limited: "The marketplace that has the listing takes no more requests at present.",
    buying_disabled: "The operator has paused buying.",
    listings_paused: "The operator has paused listings.",
    offers_paused: "The operator has paused offers.",
    refresh_too_soon:
      "The token's metadata was fetched again a moment ago. `Retry-After` says when it may be again.",
  },
  "The form of an order": {
    wrong_protocol: "Orders are of Seaport 1.6 at the address in `GET /v1/orders/params`.",
    pp_retired: "Orders of Payment Processor are no longer taken.",
    bulk_signature_not_allowed: "The endpoint takes no signature of a tree of orders.",
    unsupported_order_type:
      "The order's type is not one of those that `GET /v1/orders/params` lists.",
    zone_not_allowed: "The order names a zone or a hash for one. Both are zero here.",
    wrong_conduit: "The order's conduit is not that of `GET /v1/orders/params`.",
    bundle_not_supported: "An order is of one token or one set of tokens.",
    unsupported_item_type:
      "The item is neither ERC-721 nor ERC-1155, or not paid as the side demands.",
    bad_quantity: "The number of units is not one that an order may have.",
    not_partially_fillable: "An order of several units must be fillable in part.",
    amount_not_divisible:
      "A payment cannot be divided by the units, so that a part could not be filled.",
    dynamic_price_not_supported: "Start and end amount differ.",
    private_order_not_supported: "The order is for one buyer only.",
    unsupported_currency: "Listings are paid in the chain's coin, offers in its wrapped form.",
    bad_criteria:
      "The root is not that of the tokens or traits that were sent, or there are too many.",
    zero_price: "The price is zero.",
    price_too_low: "The price of a unit is below the least one in `GET /v1/orders/params`.",
    price_too_high: "The price of a unit is above the highest one in `GET /v1/orders/params`.",
    consideration_mismatch: "The payments do not add up to what the order says that it costs.",
    unexpected_consideration: "A payment goes to somebody who is neither maker, fee nor royalty.",
    fee_missing: "The payment of the service fee is missing; `GET /v1/orders/params` has it.",
    fee_wrong_recipient: "The service fee goes to another address than in `GET /v1/orders/params`.",
    fee_wrong_amount: "The service fee is not the share of the price in `GET /v1/orders/params`.",
    royalty_missing: "The payment of the collection's royalty is missing.",
    royalty_wrong_recipient: "The royalty goes to another address than the collection's.",
    royalty_wrong_amount: "The royalty is not the collection's share of the price.",
    royalty_unexpected: "The collection has no royalty.",
    fees_too_high: "Fee and royalty leave the seller nothing.",
    end_before_start: "The order ends before it begins.",
    duration_too_short: "The order ends too soon.",
    duration_too_long: "The order ends too late.",
    not_started: "The order begins later.",
  },
  "Signature and maker": {
    missing_signature:
      "There is no signature, and the maker has not validated the order on the chain.",
    bad_signature_length: "A signature has 64 or 65 bytes, or those of a tree of orders.",
    bad_signature: "The signature is not the maker's, of this order, on this chain.",
    bad_bulk_proof: "The proof does not lead from this order to the tree that was signed.",
    contract_signature_invalid: "The maker's contract does not accept the signature (ERC-1271).",
    counter_stale: "The maker has raised the counter since. Sign with the present one.",
    counter_ahead: "The order's counter is above the maker's on the chain.",
    not_owner: "The maker does not own the token.",
    not_approved: "The maker has not approved the conduit for the token.",
    insufficient_quantity: "The maker holds fewer units than the order sells.",
    insufficient_balance: "The maker holds less of the currency than the order pays.",
    insufficient_allowance: "The maker has approved less of the currency than the order pays.",
    maker_blocked: "The operator takes no orders of this maker.",
    offer_exposure_exceeded: "All open offers together are too much for the maker's balance.",
    too_many_open_orders:
      "The maker or the contract has as many open orders as fit. `details` says what helps.",
    raise_requires_cancel:
      "A cheaper listing of the token is still fillable: cancel it on the chain first.",
  },
  "Token and collection": {
    unknown_collection: "The contract is not an indexed one.",
    token_not_found: "The token was never minted.",
    token_burned: "The token is burned.",
    token_standard_mismatch: "The contract is of the other standard.",
    transfer_restricted:
      "The transfer would fail: the contract restricts it, or the receiver does not take the token.",
  },
  "Buying, accepting, cancelling": {
    order_cancelled: "The order was cancelled on the chain.",
    order_filled: "The order was filled.",
    order_expired: "The order's time is over.",
    conduit_channel_closed: "The conduit is closed to the exchange, so that no order of it fills.",
    self_offer: "Maker and fulfiller are the same account.",
    inactive: "The order is not fillable at present; `message` says why.",
    unavailable: "The marketplace that has the listing no longer sells it.",
    order_mismatch:
      "What the marketplace gave does not do what the listing says, and is not passed on.",
    price_above_max: "The price is above the highest one that the request allows.",
    buyer_required: "The listing can be bought only with the buyer's address in the request.",
    bad_amount: "So many units cannot be bought or accepted at once; `details` says how many.",
    token_required: "The offer is for one of several tokens: name the one that is sold.",
    token_mismatch: "The offer is not for the token that is named.",
    unsupported_marketplace:
      "Listings of the marketplace cannot be bought here. Its own page sells them.",
    unsupported_order: "The listing's order cannot be filled here.",
    cancel_on_chain: "Nothing that is not on the chain ends an order: its maker cancels it there.",
    too_many_tokens:
      "The traits match more tokens than the answer can be made of. Name a collection.",
  },
  "Names and webhooks": {
    unsupported_name: "The text is no ENS name.",
    offchain_resolver: "The name is resolved away from the chain, which cannot be verified here.",
    bad_webhook_url: "The address is not a public one of https.",
    too_many_webhooks: "The account has as many webhooks as it may. Delete one.",
    webhook_not_found: "The account has no webhook of this id.",
    disabled_by_operator: "The operator has disabled the webhook. Ask them.",
  },
};

export const explainedCodes: readonly string[] = Object.values(errorGroups).flatMap(Object.keys);
