import { flatEnvelope } from "../http/envelope.ts";
import { describeRoutes, thisDocument } from "../http/openapi.ts";
import { bearerRefusals } from "./require-bearer.ts";
import { nftDataRoutes } from "./routes.ts";

/** Version of the HTTP interface. */
const interfaceVersion = "1.0.0";

/** The OpenAPI document. `baseUrl` includes the path segment. */
export function describeNftData(baseUrl: string, { hasStream }: { hasStream: boolean }) {
  const info = {
    title: "NFT data of ApeChain",
    version: interfaceVersion,
    description:
      "Collections, tokens, wallets and activity of ApeChain (chain 33139), for accounts. Exchange e-mail address and " +
      "client key for a bearer token at `POST /api/auth/login`. Amounts in wei and token ids are decimal strings; " +
      "addresses are lower case; times are UTC.",
    baseUrl,
  };
  const extra = {
    "/openapi.json": thisDocument,
    ...(hasStream && { "/api/activity/stream": stream }),
  };
  return describeRoutes(nftDataRoutes, info, extra, {
    envelope: flatEnvelope,
    securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    security: [{ bearer: [] }],
    refusals: bearerRefusals,
  });
}

const stream = {
  get: {
    operationId: "getApiActivityStream",
    tags: ["Activity"],
    summary: "Activity as it happens, as server-sent events; `Last-Event-ID` resumes",
    responses: {
      "200": {
        description: "A stream of server-sent events",
        content: { "text/event-stream": { schema: { type: "string" as const } } },
      },
    },
  },
};
