/** What answers tell beside their bodies. */
export const headers = {
  "X-Request-Id": {
    description: "Names the request in our log. A caller's own id of 8 to 64 characters is kept.",
    schema: { type: "string" as const },
    required: true,
  },
  ETag: { description: "For If-None-Match.", schema: { type: "string" as const }, required: true },
  Link: { description: 'The next page, `rel="next"`.', schema: { type: "string" as const } },
  "X-RateLimit-Limit": {
    description: "Requests a minute that the caller has; absent where it has no limit.",
    schema: { type: "integer" as const },
  },
  "X-RateLimit-Remaining": {
    description: "How many of them are left. A 304 takes none.",
    schema: { type: "integer" as const },
  },
  "X-RateLimit-Reset": {
    description: "When all of them are free again, in unix seconds.",
    schema: { type: "integer" as const },
  },
  "Retry-After": {
    description: "Seconds until it is worth asking again.",
    schema: { type: "integer" as const, minimum: 1 },
    required: true,
  },
  "WWW-Authenticate": {
    description: "What is wrong with the key.",
    schema: { type: "string" as const },
    required: true,
  },
};

/** How a caller names itself. */
export const securitySchemes = {
  apiKey: {
    type: "apiKey" as const,
    in: "header" as const,
    name: "X-API-Key",
    description:
      "Gives the caller a limit of its own. `POST /v1/auth/keys` gives one at once; without one an address has a limit.",
  },
};

export function header(name: keyof typeof headers) {
  return { $ref: `#/components/headers/${name}` };
}

/** Those of every limited answer. */
export const everyHeader = {
  "X-Request-Id": header("X-Request-Id"),
  "X-RateLimit-Limit": header("X-RateLimit-Limit"),
  "X-RateLimit-Remaining": header("X-RateLimit-Remaining"),
  "X-RateLimit-Reset": header("X-RateLimit-Reset"),
};
