/** What the interface's documents say of the endpoints that are served, kept as data beside the code's own table. */
export type DocumentedEndpoint = {
  method: "get" | "post";
  path: string;
  parameters: string[];
  /** Status of each code an endpoint may refuse with. */
  codes: Record<string, number>;
};

const chain = { unsupported_chain: 422, invalid_parameters: 422 };
const paged = { use_cursor: 422, invalid_cursor: 422 };

const accepting = {
  bad_structure: 422,
  unsupported_chain: 422,
  order_filled: 422,
  order_cancelled: 422,
  order_expired: 422,
  not_started: 422,
  contract_signature_invalid: 422,
  insufficient_balance: 422,
  insufficient_allowance: 422,
  token_required: 422,
  token_mismatch: 422,
  bad_amount: 422,
  self_offer: 422,
  not_owner: 422,
  insufficient_quantity: 422,
  conduit_channel_closed: 422,
  transfer_restricted: 422,
  rpc_unavailable: 422,
};

const notAcceptable = [
  "bad_structure unsupported_chain wrong_protocol bulk_signature_not_allowed unsupported_order_type",
  "zone_not_allowed wrong_conduit bundle_not_supported unsupported_item_type bad_quantity",
  "not_partially_fillable amount_not_divisible dynamic_price_not_supported private_order_not_supported",
  "unsupported_currency bad_criteria zero_price price_too_low price_too_high consideration_mismatch",
  "unexpected_consideration fee_missing fee_wrong_recipient fee_wrong_amount royalty_missing",
  "royalty_wrong_recipient royalty_wrong_amount royalty_unexpected fees_too_high end_before_start",
  "not_started order_expired duration_too_short duration_too_long missing_signature",
  "bad_signature_length bad_signature bad_bulk_proof contract_signature_invalid counter_stale",
  "counter_ahead unknown_collection token_standard_mismatch token_not_found token_burned not_owner",
  "insufficient_quantity not_approved insufficient_balance insufficient_allowance",
  "conduit_channel_closed order_cancelled order_filled transfer_restricted self_offer",
  "too_many_open_orders rpc_unavailable",
].flatMap((line) => line.split(" "));

const intake = {
  ...Object.fromEntries(notAcceptable.map((code) => [code, 422])),
  pp_retired: 409,
  raise_requires_cancel: 409,
};

export const documentedEndpoints: DocumentedEndpoint[] = [
  { method: "post", path: "/v1/auth/keys", parameters: [], codes: {} },
  {
    method: "get",
    path: "/v1/collections",
    parameters: [
      "chainId",
      "period",
      "sort",
      "direction",
      "search",
      "verified",
      "page",
      "cursor",
      "per_page",
    ],
    codes: { ...chain, ...paged },
  },
  {
    method: "get",
    path: "/v1/collections/{collection}",
    parameters: ["collection", "chainId"],
    codes: { not_found: 404, ...chain },
  },
  {
    method: "get",
    path: "/v1/collections/{collection}/tokens",
    parameters: [
      "collection",
      "chainId",
      "sort",
      "listed",
      "token_ids",
      "owner",
      "cursor",
      "per_page",
    ],
    codes: { not_found: 404, ...chain, invalid_cursor: 422 },
  },
  {
    method: "get",
    path: "/v1/collections/{collection}/traits",
    parameters: ["collection", "chainId", "type"],
    codes: { not_found: 404, ...chain },
  },
  {
    method: "get",
    path: "/v1/collections/{collection}/tokens/{tokenId}",
    parameters: ["collection", "tokenId", "chainId"],
    codes: { not_found: 404, ...chain },
  },
  {
    method: "get",
    path: "/v1/collections/{collection}/floor-history",
    parameters: ["collection", "chainId", "days", "interval"],
    codes: { not_found: 404, ...chain },
  },
  {
    method: "get",
    path: "/v1/sales",
    parameters: ["chainId", "collection", "token_id", "traits", "page", "cursor", "per_page"],
    codes: { not_found: 404, ...chain, ...paged },
  },
  {
    method: "get",
    path: "/v1/listings",
    parameters: [
      "chainId",
      "collection",
      "token_id",
      "maker",
      "status",
      "min_price",
      "max_price",
      "sort",
      "page",
      "cursor",
      "per_page",
      "marketplace",
    ],
    codes: { not_found: 404, ...chain, ...paged },
  },
  {
    method: "get",
    path: "/v1/listings/{askId}",
    parameters: ["askId", "chainId"],
    codes: { not_found: 404, ...chain },
  },
  {
    method: "get",
    path: "/v1/bids",
    parameters: [
      "chainId",
      "collection",
      "token_id",
      "maker",
      "status",
      "kind",
      "sort",
      "page",
      "cursor",
      "per_page",
    ],
    codes: { not_found: 404, ...chain, ...paged },
  },
  {
    method: "get",
    path: "/v1/bids/best",
    parameters: ["chainId", "collection", "tokenId"],
    codes: { not_found: 404, ...chain },
  },
  {
    method: "get",
    path: "/v1/bids/{bidId}",
    parameters: ["bidId", "chainId"],
    codes: { not_found: 404, ...chain },
  },
  ...["/v1/orders/asks", "/v1/orders/asks/bulk"].map(
    (path): DocumentedEndpoint => ({
      method: "post",
      path,
      parameters: [],
      codes: { ...intake, listings_paused: 503 },
    }),
  ),
  ...["/v1/orders/bids", "/v1/orders/bids/bulk"].map(
    (path): DocumentedEndpoint => ({
      method: "post",
      path,
      parameters: [],
      codes: { ...intake, offers_paused: 503 },
    }),
  ),
  {
    method: "get",
    path: "/v1/orders/asks/{askId}/components",
    parameters: ["askId", "chainId"],
    codes: { not_found: 404, ...chain },
  },
  {
    method: "get",
    path: "/v1/orders/bids/{bidId}/components",
    parameters: ["bidId", "chainId"],
    codes: { not_found: 404, ...chain },
  },
  {
    method: "get",
    path: "/v1/orders/params",
    parameters: ["chainId", "maker", "kind", "contract", "tokenId", "quantity", "unitPriceWei"],
    codes: { bad_structure: 422, unsupported_chain: 422, rpc_unavailable: 422 },
  },
  {
    method: "post",
    path: "/v1/listings/{askId}/buy-data",
    parameters: ["askId"],
    codes: {
      not_found: 404,
      inactive: 409,
      unavailable: 409,
      order_mismatch: 409,
      price_above_max: 409,
      bad_structure: 422,
      bad_request: 422,
      unsupported_chain: 422,
      buyer_required: 422,
      bad_amount: 422,
      unsupported_marketplace: 422,
      unsupported_order: 422,
      upstream_error: 502,
      buying_disabled: 503,
    },
  },
  {
    method: "post",
    path: "/v1/listings/buy-data-bulk",
    parameters: [],
    codes: { bad_structure: 422, bad_request: 422, unsupported_chain: 422 },
  },
  {
    method: "post",
    path: "/v1/bids/best-accept-data",
    parameters: [],
    codes: { not_found: 404, ...accepting },
  },
  {
    method: "post",
    path: "/v1/bids/{bidId}/accept-data",
    parameters: ["bidId"],
    codes: { not_found: 404, ...accepting },
  },
  {
    method: "post",
    path: "/v1/orders/asks/{askId}/cancel",
    parameters: ["askId"],
    codes: { bad_structure: 422, cancel_on_chain: 409 },
  },
  {
    method: "post",
    path: "/v1/orders/bids/{bidId}/cancel",
    parameters: ["bidId"],
    codes: { bad_structure: 422, cancel_on_chain: 409 },
  },
  {
    method: "post",
    path: "/v1/orders/asks/{askId}/sync",
    parameters: ["askId"],
    codes: { not_found: 404, bad_structure: 422, unsupported_chain: 422, rpc_unavailable: 422 },
  },
  {
    method: "post",
    path: "/v1/orders/bids/{bidId}/sync",
    parameters: ["bidId"],
    codes: { not_found: 404, bad_structure: 422, unsupported_chain: 422, rpc_unavailable: 422 },
  },
  {
    method: "post",
    path: "/v1/listings/requirements",
    parameters: [],
    codes: { bad_structure: 422, unsupported_chain: 422, rpc_unavailable: 422 },
  },
  {
    method: "post",
    path: "/v1/bids/requirements",
    parameters: [],
    codes: { bad_structure: 422, unsupported_chain: 422, rpc_unavailable: 422 },
  },
  {
    method: "get",
    path: "/v1/crypto/history",
    parameters: ["type", "days", "interval"],
    codes: { invalid_parameters: 422 },
  },
  {
    method: "get",
    path: "/v1/ens/resolve",
    parameters: ["name", "chainId"],
    codes: {
      not_found: 404,
      ...chain,
      unsupported_name: 422,
      offchain_resolver: 422,
      rpc_unavailable: 503,
    },
  },
  {
    method: "get",
    path: "/v1/events",
    parameters: ["chainId", "after", "type", "collection", "wallet", "per_page"],
    codes: { ...chain, invalid_cursor: 422 },
  },
  { method: "get", path: "/v1/openapi.json", parameters: [], codes: {} },
  { method: "get", path: "/v1/status", parameters: [], codes: {} },
];
