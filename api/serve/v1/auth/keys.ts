import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { noInstantKeys } from "#api/keys/stored-keys.ts";
import { route } from "../routing/context.ts";
import { optionalChainId } from "../routing/parameters.ts";

const InstantKey = z
  .object({
    key: z.string().meta({ description: "Send it in the header X-API-Key. Shown only once." }),
    type: z.literal("instant"),
    requestsPerMinute: z.int().min(0).meta({ description: "0: unlimited." }),
    expiresAt: z.iso.datetime(),
    docs: z.url(),
  })
  .meta({ id: "InstantKey" });

export const giveInstantKey = route(
  {
    method: "post",
    path: "/v1/auth/keys",
    operationId: "createKey",
    tag: "Authentication",
    reads: "nothing",
    scope: null,
    summary: "Creates an API key without an account: a higher rate limit for seven days",
    query: z.object({ chainId: optionalChainId }),
    data: InstantKey,
    successes: { 201: "A new key" },
    refuses: {
      rate_limited: 429,
      instant_keys_paused: 429,
      unsupported_chain: 422,
      bad_structure: 422,
    },
  },
  async ({ address }, { instantKeys }) => {
    const given = (await instantKeys?.create(address)) ?? noInstantKeys;
    return isRejection(given) ? given : { data: given };
  },
);
