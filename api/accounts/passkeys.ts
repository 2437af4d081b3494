import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import { sql } from "kysely";
import type { Hex } from "viem";
import { z } from "zod";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database, Session as DatabaseSession } from "#projections/log/database.ts";
import { currentTime } from "../keys/clock.ts";
import type { AccountContext } from "./account-context.ts";
import { parseCredentialName } from "./account-keys.ts";
import { secondFactorMail } from "./mail.ts";
import { storeNonce, takeNonce } from "./nonces.ts";
import { endRecoveryCodes, hasSecondFactor, makeRecoveryCodes } from "./second-factor.ts";
import { type AccountSession, endSessions } from "./sessions.ts";
import type { TooMany } from "./throttle.ts";

/** A passkey of an account (WebAuthn). */
export type Passkey = {
  readonly id: number;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
};

/** The passkeys of an account, the first one first. */
export async function readPasskeys(db: Database, accountId: number): Promise<Passkey[]> {
  const { rows } = await sql<Passkey>`
    select id, name, created_at as "createdAt", last_used_at as "lastUsedAt"
    from access.passkey where account_id = ${accountId} order by id`.execute(db);
  return rows;
}

/** Of an account. */
const maxPasskeys = 10;

/** ES256, EdDSA and RS256 (RFC 9053, RFC 8812), which every Node verifies. */
const supportedAlgorithmIDs = [-7, -8, -257];

/** With the first passkey that is asked for: it takes half a second and 30 MB. */
const loadLibrary = () => import("@simplewebauthn/server");

/**
 * The domain that passkeys belong to. Null: there can be none, since browsers know passkeys on https and localhost only,
 * and never on an IP address.
 */
export function passkeyDomain(baseUrl: string): string | null {
  const { hostname, protocol } = new URL(baseUrl);
  if (hostname.startsWith("[") || /^[\d.]+$/.test(hostname)) return null;
  return protocol === "https:" || /(^|\.)localhost$/.test(hostname) ? hostname : null;
}

/** Who is asked, and where alone the answer is taken: a sign-in that waits, or a session. */
export type PasskeySubject = { readonly accountId: number; readonly subject: string };

export const sessionSubject = ({ id }: Pick<AccountSession, "id">): string => `session ${id}`;

const nonceOf = (
  { subject }: Pick<PasskeySubject, "subject">,
  kind: "create" | "get",
  challenge: string,
) => `${kind} ${subject} ${challenge}`;

/** What a browser asks the passkeys of an account. Null: there are none. */
export async function askPasskey(
  { db, clock, throttle, baseUrl }: AccountContext,
  asked: PasskeySubject,
  network: string,
): Promise<PublicKeyCredentialRequestOptionsJSON | TooMany | null> {
  const rpID = passkeyDomain(baseUrl);
  const known = await readCredentials(db, asked.accountId);
  if (rpID === null || known.length === 0) return null;
  const refused = await throttle.countAttempts(["nonces address", network]);
  if (refused !== null) return refused;
  const { generateAuthenticationOptions } = await loadLibrary();
  const options = await generateAuthenticationOptions({
    rpID,
    allowCredentials: known,
    userVerification: "preferred",
  });
  await storeNonce(db, clock, nonceOf(asked, "get", options.challenge));
  return options;
}

type Credential = { readonly id: string; readonly transports: AuthenticatorTransport[] };

async function readCredentials(db: Database, accountId: number): Promise<Credential[]> {
  const { rows } = await sql<Credential>`
    select credential_id as id, transports from access.passkey
    where account_id = ${accountId} order by id`.execute(db);
  return rows;
}

type WrongPasskey = Rejection<"wrong_passkey">;

const wrongPasskey: WrongPasskey = reject(
  "wrong_passkey",
  "This passkey was not accepted: it is not one of this account, or its time is over. Try again.",
);

const Part = z.string();
const Answer = z.object({
  id: Part,
  rawId: Part,
  type: z.literal("public-key"),
  response: z.object({ clientDataJSON: Part }).and(z.record(z.string(), z.unknown())),
});

/**
 * An answer of a browser, whose challenge is used up by this, and what it has to be of. Null: it has no challenge that is open
 * for this.
 */
async function takeAnswer(
  { db, clock, baseUrl }: AccountContext,
  asked: Pick<PasskeySubject, "subject">,
  kind: "create" | "get",
  text: string,
) {
  const answer = Answer.safeParse(parsed(text)).data;
  if (answer === undefined) return null;
  const expectedChallenge = challengeOf(answer);
  if (expectedChallenge === undefined) return null;
  const isOpen = await takeNonce(db, nonceOf(asked, kind, expectedChallenge), clock);
  const expectedRPID = passkeyDomain(baseUrl);
  if (!isOpen || expectedRPID === null) return null;
  const expectedOrigin = new URL(baseUrl).origin;
  const expected = { expectedChallenge, expectedOrigin, expectedRPID };
  return { answer, expected: { ...expected, requireUserVerification: false } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function challengeOf({ response }: z.output<typeof Answer>): string | undefined {
  const clientData = parsed(Buffer.from(response.clientDataJSON, "base64url").toString());
  return z.object({ challenge: z.string() }).safeParse(clientData).data?.challenge;
}

/**
 * Takes the answer of a passkey for a code of the second factor; attempts are bounded as those are. Null: it was right. Its
 * counter has to rise, where it counts: else it is a copy.
 */
export async function consumePasskey(
  context: AccountContext,
  asked: PasskeySubject,
  text: string,
): Promise<WrongPasskey | TooMany | null> {
  const { throttle } = context;
  const tries = ["code account", `${asked.accountId}`] as const;
  const refused = await throttle.countAttempts(tries);
  if (refused !== null) return refused;
  if (!(await isRightAnswer(context, asked, text))) return wrongPasskey;
  await throttle.refund(tries);
  return null;
}

type StoredCredential = {
  readonly id: number;
  readonly publicKey: Hex;
  readonly counter: string;
};

async function isRightAnswer(
  context: AccountContext,
  asked: PasskeySubject,
  text: string,
): Promise<boolean> {
  const { db, clock } = context;
  const taken = await takeAnswer(context, asked, "get", text);
  if (taken === null) return false;
  const { answer, expected } = taken;
  const { rows } = await sql<StoredCredential>`
    select id, public_key as "publicKey", counter::text from access.passkey
    where account_id = ${asked.accountId} and credential_id = ${answer.id}`.execute(db);
  const [stored] = rows;
  if (stored === undefined) return false;
  const { verifyAuthenticationResponse } = await loadLibrary();
  // It throws at whatever is wrong; nothing in it is of the database or the network.
  const verified = await verifyAuthenticationResponse({
    response: answer as unknown as AuthenticationResponseJSON,
    ...expected,
    credential: {
      id: answer.id,
      publicKey: Uint8Array.from(Buffer.from(stored.publicKey.slice(2), "hex")),
      counter: Number(stored.counter),
    },
  }).catch(() => null);
  if (verified?.verified !== true) return false;
  const { newCounter } = verified.authenticationInfo;
  const { numAffectedRows } = await sql`
    update access.passkey set counter = ${newCounter}, last_used_at = ${currentTime(clock)}
    where id = ${stored.id} and counter = ${stored.counter}::bigint`.execute(db);
  return numAffectedRows === 1n;
}

type PasskeyOffer = PublicKeyCredentialCreationOptionsJSON;

/** What a browser makes a new passkey by. Null: this service's address can have none. */
export async function offerPasskey(
  { db, clock, throttle, baseUrl }: AccountContext,
  session: AccountSession,
  network: string,
): Promise<PasskeyOffer | TooMany | null> {
  const rpID = passkeyDomain(baseUrl);
  if (rpID === null) return null;
  const refused = await throttle.countAttempts(["nonces address", network]);
  if (refused !== null) return refused;
  const { generateRegistrationOptions } = await loadLibrary();
  const options = await generateRegistrationOptions({
    ...{ rpID, rpName: rpID, userName: session.name, userDisplayName: session.name },
    userID: Uint8Array.from(Buffer.from(`account ${session.accountId}`)),
    supportedAlgorithmIDs,
    excludeCredentials: await readCredentials(db, session.accountId),
    // Its account is known when it is asked for: keys that store few need not store this one.
    authenticatorSelection: { residentKey: "discouraged", userVerification: "preferred" },
  });
  const subject = sessionSubject(session);
  await storeNonce(db, clock, nonceOf({ subject }, "create", options.challenge));
  return options;
}

type NewPasskey = { readonly name: string; readonly answer: string };

type PasskeyRejection = Rejection<"bad_name" | "too_many_passkeys"> | WrongPasskey;

/**
 * Adds a passkey to an account. `codes`: the recovery codes, where it is the first second factor, which also ends all other
 * sessions; else null.
 */
export async function addPasskey(
  context: AccountContext,
  session: AccountSession,
  { name: text, answer }: NewPasskey,
): Promise<{ readonly codes: readonly string[] | null } | PasskeyRejection> {
  const { db, mailer, baseUrl } = context;
  const name = parsePasskeyName(text);
  if (isRejection(name)) return name;
  const made = await readNewCredential(context, session, answer);
  if (made === null) return wrongPasskey;
  const added = await db
    .transaction()
    .execute((transaction) => storePasskey(transaction, context, session, { name, made }));
  const what = `The passkey ${name} was added to the second factor`;
  if (!isRejection(added)) mailer.send(secondFactorMail({ to: session.email, baseUrl, what }));
  return added;
}

/** A passkey's name, as a key's. */
export const parsePasskeyName = (text: string): string | Rejection<"bad_name"> =>
  parseCredentialName(text, "Give the passkey a name, for example the device that has it");

/** The credential of an answer to an offer; null: it is none for this session. */
async function readNewCredential(context: AccountContext, session: AccountSession, text: string) {
  const subject = sessionSubject(session);
  const taken = await takeAnswer(context, { subject }, "create", text);
  if (taken === null) return null;
  const { answer, expected } = taken;
  if (!(await isUnattested(answer))) return null;
  const { verifyRegistrationResponse } = await loadLibrary();
  const verified = await verifyRegistrationResponse({
    response: answer as unknown as RegistrationResponseJSON,
    ...expected,
    supportedAlgorithmIDs,
  }).catch(() => null);
  return verified?.verified === true ? verified.registrationInfo.credential : null;
}

/** The forms that an authenticator gives who is asked for no certificate: of others the library would fetch lists. */
async function isUnattested({ response }: z.output<typeof Answer>): Promise<boolean> {
  const { decodeAttestationObject } = await import("@simplewebauthn/server/helpers");
  try {
    const { attestationObject } = z.object({ attestationObject: Part }).parse(response);
    const format = decodeAttestationObject(
      Uint8Array.from(Buffer.from(attestationObject, "base64url")),
    ).get("fmt");
    return format === "none" || format === "packed";
  } catch {
    return false;
  }
}

type MadePasskey = {
  readonly name: string;
  readonly made: NonNullable<Awaited<ReturnType<typeof readNewCredential>>>;
};

async function storePasskey(
  transaction: DatabaseSession,
  { clock }: AccountContext,
  { id, accountId }: AccountSession,
  { name, made }: MadePasskey,
): Promise<{ readonly codes: readonly string[] | null } | PasskeyRejection> {
  const { rows } = await sql<{ passkeys: number; isFirst: boolean }>`
    with account as (select id from access.account where id = ${accountId} for update)
    select (select count(*)::int from access.passkey where account_id = ${accountId}) as passkeys,
           not ${hasSecondFactor(accountId)} as "isFirst"
    from account`.execute(transaction);
  const [account] = rows;
  if (account === undefined || account.passkeys >= maxPasskeys) return tooManyPasskeys;
  const transports = (made.transports ?? []).filter((one) => /^[a-z-]{1,20}$/.test(one));
  const { numAffectedRows } = await sql`
    insert into access.passkey (account_id, credential_id, public_key, counter, transports, name, created_at)
    values (${accountId}, ${made.id}, ${Buffer.from(made.publicKey)}, ${made.counter},
            ${transports.slice(0, 8)}::text[], ${name}, ${currentTime(clock)})
    on conflict do nothing`.execute(transaction);
  if (numAffectedRows !== 1n) return wrongPasskey;
  if (!account.isFirst) return { codes: null };
  await endSessions(transaction, accountId, id);
  return { codes: await makeRecoveryCodes(transaction, accountId) };
}

const tooManyPasskeys: Rejection<"too_many_passkeys"> = reject(
  "too_many_passkeys",
  `An account can have at most ${maxPasskeys} passkeys. Remove one that is no longer used.`,
);

/** Removes a passkey from an account. One that it does not have is none. */
export async function removePasskey(
  { db, mailer, baseUrl }: AccountContext,
  { accountId, email }: AccountSession,
  id: number,
): Promise<void> {
  const name = await db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ name: string }>`
      delete from access.passkey where id = ${id} and account_id = ${accountId}
      returning name`.execute(transaction);
    await endRecoveryCodes(transaction, accountId);
    return rows[0]?.name;
  });
  const what = `The passkey ${name} was removed from the second factor`;
  if (name !== undefined) mailer.send(secondFactorMail({ to: email, baseUrl, what }));
}
