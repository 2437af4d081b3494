import { accountChain } from "#chains/index.ts";
import { eventTypes } from "#projections/activity/feed-events.ts";
import { streamQuery, streamRefusals } from "../feed/answer-feed.ts";
import { flatEnvelope } from "../http/api-profile.ts";
import { describeRoutes, resumption, thisDocument } from "../http/openapi.ts";
import { failures, sharedResponse } from "../http/openapi-responses.ts";
import { parameterRefusals } from "../http/query.ts";
import { describedFor, operatorAt } from "../reference/described.ts";
import { activity, walletActivity } from "./activity.ts";
import {
  accountCollection,
  batchCollections,
  collectionAttributes,
  collectionHolders,
  listAccountCollections,
  listCollectionsAlias,
} from "./collections.ts";
import type { NftDataRoute } from "./context.ts";
import { bearerRefusals, login } from "./login.ts";
import { accountToken, accountTokens } from "./tokens.ts";
import { accountWalletOffers, accountWalletTokens, batchWallets } from "./wallets.ts";

/** Every endpoint, in the order of the document. */
export const nftDataRoutes: readonly NftDataRoute[] = [
  login,
  listAccountCollections,
  listCollectionsAlias,
  accountCollection,
  collectionAttributes,
  accountTokens,
  accountToken,
  collectionHolders,
  accountWalletTokens,
  accountWalletOffers,
  walletActivity,
  activity,
  batchCollections,
  batchWallets,
];

/** Version of the HTTP interface. */
const interfaceVersion = "1.0.0";

/** The OpenAPI document. `baseUrl` includes the path segment. */
export function describeNftData(baseUrl: string, { hasStream }: { hasStream: boolean }) {
  const info = {
    title: `NFT data of ${accountChain.name}`,
    version: interfaceVersion,
    description:
      `Collections, tokens, wallets and activity of ${accountChain.name} (chain ${accountChain.id}), for accounts. Exchange e-mail address and ` +
      "client key for a bearer token at `POST /api/auth/login`. Amounts in wei and token ids are decimal strings; " +
      "addresses are lower case; times are UTC.",
    baseUrl,
  };
  const extra = {
    "/openapi.json": thisDocument,
    ...(hasStream && { "/api/activity/stream": stream }),
  };
  const document = describeRoutes(nftDataRoutes, info, extra, {
    envelope: flatEnvelope,
    securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    security: [{ bearer: [] }],
    refusals: bearerRefusals,
  });
  Object.assign(document.info, { contact: operatorAt(baseUrl) });
  return describedFor(document, "account");
}

const stream = {
  get: {
    operationId: "streamActivity",
    tags: ["Activity"],
    summary: "Activity as it happens, as server-sent events",
    requestParams: {
      query: streamQuery,
      header: resumption,
    },
    responses: {
      "200": {
        description:
          "Server-sent events without end. `id` resumes after the event; `event` is its type, one of " +
          `${eventTypes.map((type) => `\`${type}\``).join(", ")}; \`data\` is JSON with the fields of \`GET /v1/events\`, in snake_case. ` +
          "Comments keep the connection open.",
        content: { "text/event-stream": { schema: { type: "string" as const } } },
      },
      ...failures({ ...streamRefusals, ...parameterRefusals, ...bearerRefusals }),
      "405": sharedResponse("MethodNotAllowed"),
      default: sharedResponse("Unreadable"),
    },
  },
};
