import { type Address, getAddress, type Hex, hashMessage, recoverMessageAddress } from "viem";
import {
  generateSiweNonce,
  parseSiweMessage,
  type SiweMessage,
  validateSiweMessage,
} from "viem/siwe";
import type { ChainId } from "#chains/index.ts";
import { queryChainOrReject } from "#jobs/orders/evaluate-order.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Session } from "#projections/log/database.ts";
import type { AccountContext } from "./account-context.ts";
import { isOpenNonce, storeNonce, takeNonce } from "./nonces.ts";
import type { TooMany } from "./throttle.ts";

/** Characters of a message, and of a signature: owners of a contract may sign one after the other. */
export const maxSiweLengths = { message: 4_000, signature: 10_000 } as const;

type SiweOffer = {
  readonly message: string;
  readonly nonce: string;
  readonly domain: string;
  readonly uri: string;
  readonly expiresAt: Date;
};

/** A message that a wallet may sign to sign in (ERC-4361). Its nonce is good for one sign-in, in any process. */
export async function offerSiwe(
  { db, clock, throttle, baseUrl }: AccountContext,
  wallet: { readonly address: Address; readonly chainId: ChainId },
  network: string,
): Promise<SiweOffer | TooMany> {
  const refused = await throttle.countAttempts(["nonces address", network]);
  if (refused !== null) return refused;
  const nonce = generateSiweNonce();
  const { at: issuedAt, expiresAt } = await storeNonce(db, clock, nonce);
  const { host: domain, origin: uri } = new URL(baseUrl);
  const terms = { ...wallet, domain, uri, nonce, issuedAt, expirationTime: expiresAt };
  return { message: siweText(terms), nonce, domain, uri, expiresAt };
}

type SiweTerms = Pick<SiweMessage, "address" | "chainId" | "domain" | "uri" | "nonce"> & {
  readonly issuedAt: Date;
  readonly expirationTime: Date;
};

const statement = "Sign in to your developer account. This costs nothing and sends no transaction.";

/** As viem writes it, which refuses hosts without a dot. */
function siweText({ address, chainId, domain, uri, nonce, ...times }: SiweTerms): string {
  return `${domain} wants you to sign in with your Ethereum account:
${getAddress(address)}

${statement}

URI: ${uri}
Version: 1
Chain ID: ${chainId}
Nonce: ${nonce}
Issued At: ${times.issuedAt.toISOString()}
Expiration Time: ${times.expirationTime.toISOString()}`;
}

/** What a wallet signed. */
export type SignedSiwe = { readonly message: string; readonly signature: string };

/** Whose signature it is. `chainId` null: of the address's own key, on whatever chain; else of its contract there. */
export type ProvenWallet = {
  readonly address: Address;
  readonly chainId: ChainId | null;
  readonly nonce: string;
};

export type SiweRejection =
  | Rejection<
      | "bad_siwe_message"
      | "unsupported_chain"
      | "siwe_expired"
      | "wrong_signature"
      | "rpc_unavailable"
    >
  | TooMany;

/**
 * Who signed a message, if it was made for this service, is in its time and was not used. Failures count by `network`; what
 * is taken must be used up by `consumeNonce`.
 */
export async function proveWallet(
  context: AccountContext,
  { message, signature }: SignedSiwe,
  network: string,
): Promise<ProvenWallet | SiweRejection> {
  const { db, clock, throttle } = context;
  const tries = ["sign-in address", network] as const;
  const refused = await throttle.countAttempts(tries);
  if (refused !== null) return refused;
  const terms = parseTerms(context, message, clock() ?? new Date());
  if (isRejection(terms)) return terms;
  const { address, chainId, nonce } = terms;
  if (!(await isOpenNonce(db, nonce, clock))) return siweExpired;
  const signer = await signerOf(context, terms, { message, signature });
  if (isRejection(signer)) return signer;
  await throttle.refund(tries);
  return { address, chainId: signer === "contract" ? chainId : null, nonce };
}

type ParsedTerms = {
  readonly address: Address;
  readonly chainId: ChainId;
  readonly nonce: string;
};

/** What the message must say: the service that the wallet showed, version, chain and times. */
function parseTerms(
  { baseUrl, chains }: AccountContext,
  text: string,
  time: Date,
): ParsedTerms | Rejection<"bad_siwe_message" | "unsupported_chain" | "siwe_expired"> {
  const message = parseSiweMessage(text);
  const { address, nonce } = message;
  if (address === undefined || nonce === undefined)
    return badMessage("message", "must have the form of ERC-4361");
  const fault = serviceFault(message, new URL(baseUrl));
  if (fault !== null) return fault;
  const chainId = chains.find((served) => served === message.chainId);
  if (chainId === undefined)
    return reject("unsupported_chain", `chainId: must be ${chains.join(" or ")}`);
  if (!validateSiweMessage({ message, time })) return siweExpired;
  return { address: address.toLowerCase() as Address, chainId, nonce };
}

function serviceFault(
  { domain, scheme, uri = "", version, issuedAt }: ReturnType<typeof parseSiweMessage>,
  { host, origin, protocol }: URL,
): Rejection<"bad_siwe_message"> | null {
  if (domain !== host) return badMessage("domain", `must be ${host}`);
  if (scheme !== undefined && `${scheme}:` !== protocol)
    return badMessage("scheme", `must be ${protocol.slice(0, -1)}`);
  if (!URL.canParse(uri) || new URL(uri).origin !== origin)
    return badMessage("uri", `must be below ${origin}`);
  if (version !== "1") return badMessage("version", "must be 1");
  return Number.isNaN((issuedAt ?? new Date(Number.NaN)).getTime())
    ? badMessage("issuedAt", "must be a time (RFC 3339)")
    : null;
}

function badMessage(field: string, rule: string): Rejection<"bad_siwe_message"> {
  return reject("bad_siwe_message", `${field}: ${rule}`, [{ field, message: rule }]);
}

const siweExpired: Rejection<"siwe_expired"> = reject(
  "siwe_expired",
  "The message is not in its time, its nonce is not ours, or it was used already. Sign a new one.",
);

const wrongSignature: Rejection<"wrong_signature"> = reject(
  "wrong_signature",
  "The address of the message did not sign it",
);

/** Who of both accepts the signature: the key of the address, or else its contract (ERC-1271). */
async function signerOf(
  context: AccountContext,
  { address: wallet, chainId }: ParsedTerms,
  { message, signature: text }: SignedSiwe,
): Promise<"key" | "contract" | Rejection<"wrong_signature" | "rpc_unavailable">> {
  if (!/^0x([0-9a-f]{2})*$/i.test(text)) return wrongSignature;
  const signature = text as Hex;
  const recovered = await recoverMessageAddress({ message, signature }).catch(() => null);
  if (recovered?.toLowerCase() === wallet) return "key";
  const query = { kind: "message", wallet, hash: hashMessage(message), signature } as const;
  const results = await queryChainOrReject(context, chainId, [query]);
  if (isRejection(results)) return results;
  const valid = results.find(query)?.valid;
  if (valid === undefined)
    return reject("rpc_unavailable", "Whether the wallet's contract accepts it is unknown");
  return valid ? "contract" : wrongSignature;
}

/** Uses up a nonce, with what it was for. Rejected: somebody else did meanwhile. */
export const consumeNonce = async (
  transaction: Session,
  { clock }: Pick<AccountContext, "clock">,
  { nonce }: ProvenWallet,
): Promise<Rejection<"siwe_expired"> | null> =>
  (await takeNonce(transaction, nonce, clock)) ? null : siweExpired;
