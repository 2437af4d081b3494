import type { DocumentedEndpoint } from "./endpoints.ts";

const read = { invalid_parameters: 422 };
const found = { not_found: 404, ...read };
const listed = { ...read, invalid_cursor: 422 };
const page = ["cursor", "limit"];
const collections = {
  parameters: ["search", "sort", "direction", "period", "exclude_wash", ...page],
  codes: listed,
};

/** What is said of the account API's endpoints, as paths from its base. */
export const nftDataEndpoints: DocumentedEndpoint[] = [
  {
    method: "post",
    path: "/api/auth/login",
    parameters: [],
    codes: { bad_structure: 422, invalid_credentials: 401 },
  },
  { method: "get", path: "/api/collections", ...collections },
  { method: "get", path: "/collections", ...collections },
  { method: "get", path: "/api/collections/{address}", parameters: ["address"], codes: found },
  {
    method: "get",
    path: "/api/collections/{address}/attributes",
    parameters: ["address", "type", "cursor"],
    codes: { ...found, invalid_cursor: 422 },
  },
  {
    method: "get",
    path: "/api/collections/{address}/tokens",
    parameters: ["address", "attributes", "owner", "listed", "sort", ...page],
    codes: { not_found: 404, ...listed },
  },
  {
    method: "get",
    path: "/api/collections/{address}/tokens/{tokenId}",
    parameters: ["address", "tokenId"],
    codes: found,
  },
  {
    method: "get",
    path: "/api/collections/{address}/holders",
    parameters: ["address", ...page],
    codes: { not_found: 404, ...listed },
  },
  {
    method: "get",
    path: "/api/wallets/{address}/tokens",
    parameters: ["address", "collection", ...page],
    codes: { not_found: 404, ...listed },
  },
  {
    method: "get",
    path: "/api/wallets/{address}/offers",
    parameters: ["address", "collection", ...page],
    codes: { not_found: 404, too_many_tokens: 422, ...listed },
  },
  {
    method: "get",
    path: "/api/wallets/{address}/activity",
    parameters: ["address", "type", "collection", "since", ...page],
    codes: { not_found: 404, ...listed },
  },
  {
    method: "get",
    path: "/api/activity",
    parameters: ["type", "collection", "wallet", "since", ...page],
    codes: { not_found: 404, ...listed },
  },
  {
    method: "post",
    path: "/api/batch/collections",
    parameters: [],
    codes: { bad_structure: 422 },
  },
  { method: "post", path: "/api/batch/wallets", parameters: [], codes: { bad_structure: 422 } },
  { method: "get", path: "/openapi.json", parameters: [], codes: {} },
];
