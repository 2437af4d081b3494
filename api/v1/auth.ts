import { z } from "zod";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { scopes } from "../http/limit.ts";
import { cutNumbered, numberedFields, numberedMeta } from "../http/page.ts";
import type { OwnKeys } from "../keys/key-terms.ts";
import { maxRequests, requestDays } from "../keys/request-log.ts";
import { noInstantKeys } from "../keys/stored-keys.ts";
import { type Context, route } from "./context.ts";
import { chainRefusals, optionalChainId } from "./parameters.ts";

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

const keyRefusals = { ...chainRefusals, key_required: 401 } as const;

const noKey = reject(
  "key_required",
  "This endpoint describes the API key of the request: send the key in the header X-API-Key",
);

/** The keys, and which of them the request came with; null: none. */
function ownKey(
  key: { readonly id: number } | null,
  { ownKeys }: Context,
): { readonly keys: OwnKeys; readonly id: number } | null {
  return key === null || ownKeys === undefined ? null : { keys: ownKeys, id: key.id };
}

const OwnKey = z
  .object({
    type: z.enum(["instant", "permanent"]),
    name: z.string().nullable(),
    requestsPerMinute: z.int().min(0).meta({
      description: "0: unlimited. The keys of an account share their limit.",
    }),
    scopes: z.array(z.enum(scopes)).meta({ description: "What the key may be used for." }),
    networks: z.array(z.string()).nullable().meta({
      description: "Networks that it may be used from, in CIDR notation; null: all.",
    }),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().nullable().meta({ description: "null: never." }),
    isReplaced: z.boolean().meta({ description: "Another key replaced it: it expires soon." }),
  })
  .meta({ id: "OwnKey" });

export const getKey = route(
  {
    method: "get",
    path: "/v1/auth/key",
    operationId: "getKey",
    tag: "Authentication",
    reads: "nothing",
    summary: "The key of this request: what it may be used for, until when and from where",
    scope: null,
    isPrivate: true,
    query: z.object({ chainId: optionalChainId }),
    data: OwnKey,
    refuses: keyRefusals,
  },
  async (input, context) => {
    const own = ownKey(input.key, context);
    const key = own && (await own.keys.read(own.id));
    if (key === null) return noKey;
    const { type, name, requestsPerMinute, networks, createdAt, expiresAt, isReplaced } = key;
    const data = {
      type,
      name,
      requestsPerMinute,
      isReplaced,
      scopes: [...(key.scopes ?? scopes)],
      networks: networks && [...networks],
      createdAt: createdAt.toISOString(),
      expiresAt: expiresAt?.toISOString() ?? null,
    };
    return { data };
  },
);

const KeyRequest = z
  .object({
    at: z.iso.datetime(),
    method: z.string(),
    path: z.string(),
    query: z.string().nullable().meta({ description: "Cut, as a long path is." }),
    status: z.int(),
    code: z.string().nullable(),
    requestId: z.string().nullable(),
    durationMs: z.int(),
  })
  .meta({ id: "KeyRequest" });

export const listKeyRequests = route(
  {
    method: "get",
    path: "/v1/auth/key/requests",
    operationId: "listKeyRequests",
    tag: "Authentication",
    reads: "nothing",
    summary: `The key's newest ${maxRequests} requests of ${requestDays} days, a few seconds late, newest first`,
    scope: null,
    isPrivate: true,
    query: z.object({
      chainId: optionalChainId,
      ...numberedFields,
    }),
    data: z.array(KeyRequest),
    meta: numberedMeta.meta({ id: "KeyRequestMeta" }),
    refuses: keyRefusals,
  },
  async ({ key, query: { before = null, per_page } }, context) => {
    const own = ownKey(key, context);
    if (own === null) return noKey;
    const rows = await own.keys.readRequests(own.id, { before, limit: per_page + 1 });
    const { shown, next } = cutNumbered(rows, per_page);
    return {
      data: shown.map(({ id: _, at, ...request }) => ({ at: at.toISOString(), ...request })),
      meta: { per_page, next },
    };
  },
);
