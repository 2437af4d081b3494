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

export const documentedEndpoints: DocumentedEndpoint[] = [
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
    path: "/v1/collections/{collection}/tokens/{tokenId}",
    parameters: ["collection", "tokenId", "chainId"],
    codes: { not_found: 404, ...chain },
  },
  {
    method: "get",
    path: "/v1/sales",
    parameters: ["chainId", "collection", "token_id", "traits", "page", "cursor", "per_page"],
    codes: { not_found: 404, ...chain, ...paged },
  },
  { method: "get", path: "/v1/openapi.json", parameters: [], codes: {} },
  { method: "get", path: "/v1/status", parameters: [], codes: {} },
];
