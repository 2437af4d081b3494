import { z } from "zod";
import { createWalletKey } from "#api/accounts/wallets.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { maxSiweLengths, offerSiwe } from "../accounts/siwe.ts";
import { scopes } from "../http/limit.ts";
import { route } from "./context.ts";
import { bodyChainId, optionalChainId, text, wallet } from "./parameters.ts";

const noAccounts = reject("not_found", "There are no accounts here");

const SiweNonce = z
  .object({
    message: z.string().meta({ description: "For `personal_sign` as it is, or write your own." }),
    nonce: z.string().meta({ description: "For one sign-in." }),
    domain: z.string().meta({ description: "What an own message must name." }),
    uri: z.url().meta({ description: "What the URI of an own message must be below." }),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: "SiweNonce" });

export const createSiweNonce = route(
  {
    method: "post",
    path: "/v1/auth/siwe/nonce",
    operationId: "createSiweNonce",
    tag: "Authentication",
    reads: "nothing",
    scope: null,
    summary: "Begins a sign-in with Ethereum (ERC-4361): a message for a wallet to sign",
    query: z.object({ chainId: optionalChainId }),
    body: z.strictObject({
      address: wallet.meta({ description: "Of the wallet that will sign." }),
      chainId: bodyChainId.meta({
        description: "Chain that the message names: where a contract is asked for its signature.",
      }),
    }),
    data: SiweNonce,
    successes: { 201: "A message, good for ten minutes and for one sign-in" },
    refuses: { not_found: 404, rate_limited: 429, unsupported_chain: 422, bad_structure: 422 },
  },
  async ({ body, address: network }, { accounts }) => {
    if (accounts === undefined) return noAccounts;
    const offered = await offerSiwe(accounts, body, network);
    if (isRejection(offered)) return offered;
    const { expiresAt, ...offer } = offered;
    return { data: { ...offer, expiresAt: expiresAt.toISOString() } };
  },
);

const WalletKey = z
  .object({
    key: z.string().meta({ description: "Send it in the header X-API-Key. Shown only once." }),
    type: z.literal("permanent"),
    name: z.string(),
    wallet: z.string().meta({ description: "Whose account it belongs to." }),
    requestsPerMinute: z.int().min(0).meta({ description: "0: unlimited." }),
    scopes: z.array(z.enum(scopes)),
    docs: z.url(),
  })
  .meta({ id: "WalletKey" });

const scopesOfKey = z.array(z.enum(scopes)).min(1).optional().meta({
  description: "What the key may be used for; without it everything, also what is to come.",
});

export const createKeyByWallet = route(
  {
    method: "post",
    path: "/v1/auth/siwe",
    operationId: "createWalletKey",
    tag: "Authentication",
    reads: "nothing",
    scope: null,
    summary: "Signs in with Ethereum (ERC-4361) and makes a key: an account without a mailbox",
    query: z.object({ chainId: optionalChainId }),
    body: z.strictObject({
      message: text(maxSiweLengths.message).meta({ description: "The message that was signed." }),
      signature: text(maxSiweLengths.signature)
        .regex(/^0x([0-9a-fA-F]{2})+$/, "must be 0x and hexadecimal digits, two for each byte")
        .meta({
          description: "Of the address's own key, or what its contract accepts (ERC-1271).",
          override: { pattern: "^0x([0-9a-fA-F]{2})+$" },
        }),
      name: text(60).default("Wallet").meta({
        description:
          "Of the key. It takes the place of the account's key of this name, which stays valid for a day.",
      }),
      scopes: scopesOfKey,
      code: text(40).optional().meta({
        description: "Of the account's second factor, where there is one.",
      }),
    }),
    data: WalletKey,
    successes: { 201: "A new key" },
    refuses: {
      bad_siwe_message: 422,
      bad_name: 422,
      unsupported_chain: 422,
      bad_structure: 422,
      siwe_expired: 401,
      wrong_signature: 401,
      second_factor_required: 401,
      wrong_code: 401,
      suspended: 403,
      not_found: 404,
      no_such_key: 409,
      too_many_keys: 409,
      rate_limited: 429,
      rpc_unavailable: 503,
    },
  },
  async ({ body, address: network }, { accounts, ownKeys }) => {
    if (accounts === undefined || ownKeys === undefined) return noAccounts;
    const { scopes: chosen = null, code, ...signed } = body;
    const made = await createWalletKey(accounts, { ...signed, scopes: chosen, code }, network);
    if (isRejection(made)) return made;
    const { id, key, name, wallet: owner } = made;
    const { requestsPerMinute = 0 } = (await ownKeys.read(id)) ?? {};
    const docs = `${accounts.baseUrl}/docs`;
    const granted = [...(chosen ?? scopes)];
    const given = { key, name, wallet: owner, requestsPerMinute, scopes: granted, docs };
    return { data: { ...given, type: "permanent" as const } };
  },
);
