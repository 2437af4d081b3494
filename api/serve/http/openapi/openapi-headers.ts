/** Response headers, as OpenAPI components. */
export const headers = {
  "X-Request-Id": {
    description:
      "Identifies the request in our log. An id of 8 to 64 characters sent by the caller is used.",
    schema: { type: "string" as const },
    required: true,
  },
  ETag: { description: "For If-None-Match.", schema: { type: "string" as const }, required: true },
  "X-Position": {
    description:
      "How far the data is that the answer was made from: what the answer tells is in every answer with this number or a higher one, of the same chain. Of a POST: what it did is there, too.",
    schema: { type: "string" as const, pattern: "^\\d+$" },
    required: true,
  },
  Link: { description: 'The next page, `rel="next"`.', schema: { type: "string" as const } },
  "X-RateLimit-Limit": {
    description: "Requests per minute allowed to the caller; absent when there is no limit.",
    schema: { type: "integer" as const },
  },
  "X-RateLimit-Remaining": {
    description: "Requests left in this minute. A 304 does not count.",
    schema: { type: "integer" as const },
  },
  "X-RateLimit-Reset": {
    description: "When the limit resets, in unix seconds.",
    schema: { type: "integer" as const },
  },
  "Retry-After": {
    description: "Seconds to wait before retrying.",
    schema: { type: "integer" as const, minimum: 1 },
    required: true,
  },
  "WWW-Authenticate": {
    description: "Why the key was refused.",
    schema: { type: "string" as const },
    required: true,
  },
};

/** How a caller identifies itself. */
export const securitySchemes = {
  apiKey: {
    type: "apiKey" as const,
    in: "header" as const,
    name: "X-API-Key",
    description:
      "Gives the caller its own rate limit. Get one from `POST /v1/auth/keys`; requests without a key are limited by address.",
  },
};

export function header(name: keyof typeof headers) {
  return { $ref: `#/components/headers/${name}` };
}

/** Headers of every rate-limited response. */
export const everyHeader = {
  "X-Request-Id": header("X-Request-Id"),
  "X-RateLimit-Limit": header("X-RateLimit-Limit"),
  "X-RateLimit-Remaining": header("X-RateLimit-Remaining"),
  "X-RateLimit-Reset": header("X-RateLimit-Reset"),
};
