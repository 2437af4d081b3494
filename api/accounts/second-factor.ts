import { createHmac, randomBytes } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database, Session as DatabaseSession } from "#projections/log/database.ts";
import { currentTime } from "../keys/clock.ts";
import { hashKey } from "../keys/key-text.ts";
import type { AccountContext } from "./account-context.ts";
import { secondFactorMail } from "./mail.ts";
import { type AccountSession, endSessions } from "./sessions.ts";
import type { TooMany } from "./throttle.ts";

const recoveryCodes = 10;

export type SecondFactor = {
  /** An authenticator program, whose codes are taken. */
  readonly hasProgram: boolean;
  readonly hasPasskeys: boolean;
  /** Recovery codes that were not used. */
  readonly codesLeft: number;
};

/** Whether signing in to an account needs more than its first proof: a code, or a passkey. */
export const hasSecondFactor = (accountId: number | RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`(${hasProgram(accountId)} or ${hasPasskeys(accountId)})`;

const hasProgram = (accountId: number | RawBuilder<unknown>) =>
  sql`exists (select from access.second_factor f where f.account_id = ${accountId} and f.confirmed_at is not null)`;
const hasPasskeys = (accountId: number | RawBuilder<unknown>) =>
  sql`exists (select from access.passkey k where k.account_id = ${accountId})`;

export const isOn = ({ hasProgram, hasPasskeys }: SecondFactor): boolean =>
  hasProgram || hasPasskeys;

export async function readSecondFactor(db: Database, accountId: number): Promise<SecondFactor> {
  const { rows } = await sql<SecondFactor>`
    select ${hasProgram(accountId)} as "hasProgram", ${hasPasskeys(accountId)} as "hasPasskeys",
           (select count(*)::int from access.recovery_code where account_id = ${accountId}) as "codesLeft"`.execute(
    db,
  );
  return rows[0] ?? { hasProgram: false, hasPasskeys: false, codesLeft: 0 };
}

/** Makes a secret, which is in force once a code of it was given. Null: a second factor is on already. */
export async function beginSecondFactor(
  { db, clock }: Pick<AccountContext, "db" | "clock">,
  accountId: number,
): Promise<Buffer | null> {
  const secret = makeTotpSecret();
  const { rows } = await sql`
    insert into access.second_factor as f (account_id, secret, created_at)
    values (${accountId}, ${secret}, ${currentTime(clock)})
    on conflict (account_id) do update set secret = excluded.secret, created_at = excluded.created_at
    where f.confirmed_at is null
    returning account_id`.execute(db);
  return rows.length === 0 ? null : secret;
}

/** The secret that waits for its first code. */
export async function readPendingSecret(db: Database, accountId: number): Promise<Buffer | null> {
  const { rows } = await sql<{ secret: Hex }>`
    select secret from access.second_factor
    where account_id = ${accountId} and confirmed_at is null`.execute(db);
  return rows[0] === undefined ? null : bytesOf(rows[0].secret);
}

type WrongCode = Rejection<"wrong_code"> | TooMany;

/**
 * Switches the second factor on by a first code, and ends all other sessions, which began without it. The recovery codes
 * are stored as hashes only.
 */
export async function confirmSecondFactor(
  context: AccountContext,
  { id, accountId, email }: AccountSession,
  code: string,
): Promise<{ readonly codes: readonly string[] } | WrongCode> {
  const { db, clock, throttle, mailer, baseUrl } = context;
  const refused = await throttle.countAttempts(["code account", `${accountId}`]);
  if (refused !== null) return refused;
  const codes = await db.transaction().execute(async (transaction) => {
    if (!(await consumeTotp(transaction, context, accountId, code, "pending"))) return null;
    await sql`
      update access.second_factor set confirmed_at = ${currentTime(clock)}
      where account_id = ${accountId}`.execute(transaction);
    await endSessions(transaction, accountId, id);
    return await makeRecoveryCodes(transaction, accountId);
  });
  if (codes === null) return wrongCode;
  await throttle.refund(["code account", `${accountId}`]);
  mailer.send(secondFactorMail({ to: email, baseUrl, what: "A second factor was switched on" }));
  return { codes };
}

/** New recovery codes; the old ones no longer work. Null: there is no second factor. */
export async function renewRecoveryCodes(
  { db, mailer, baseUrl }: AccountContext,
  { accountId, email }: AccountSession,
): Promise<readonly string[] | null> {
  const codes = await db.transaction().execute(async (transaction) => {
    const { rows } = await sql`
      select from access.account where id = ${accountId} and ${hasSecondFactor(accountId)}
      for update`.execute(transaction);
    return rows.length === 0 ? null : await makeRecoveryCodes(transaction, accountId);
  });
  const what = "New recovery codes were made";
  if (codes !== null) mailer.send(secondFactorMail({ to: email, baseUrl, what }));
  return codes;
}

/** Switches the authenticator program off, or all of the second factor. Returns whether there was something. */
export async function endSecondFactor(
  { db, mailer, baseUrl }: Pick<AccountContext, "db" | "mailer" | "baseUrl">,
  { accountId, email }: Pick<AccountSession, "accountId" | "email">,
  ended: "program" | "all",
): Promise<boolean> {
  const wasOn = await deleteSecondFactor(db, accountId, ended);
  const what = `${ended === "all" ? "The second factor" : "The authenticator program"} was switched off`;
  if (wasOn) mailer.send(secondFactorMail({ to: email, baseUrl, what }));
  return wasOn;
}

async function deleteSecondFactor(
  db: Database,
  accountId: number,
  ended: "program" | "all",
): Promise<boolean> {
  return await db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ wasOn: boolean }>`
      delete from access.second_factor where account_id = ${accountId}
      returning confirmed_at is not null as "wasOn"`.execute(transaction);
    const { numAffectedRows: passkeys } = await sql`
      delete from access.passkey where account_id = ${accountId} and ${ended === "all"}`.execute(
      transaction,
    );
    await endRecoveryCodes(transaction, accountId);
    return (rows[0]?.wasOn ?? false) || (passkeys ?? 0n) > 0n;
  });
}

/** Recovery codes end with the last second factor. */
export async function endRecoveryCodes(
  transaction: DatabaseSession,
  accountId: number,
): Promise<void> {
  await sql`
    delete from access.recovery_code
    where account_id = ${accountId} and not ${hasSecondFactor(accountId)}`.execute(transaction);
}

/**
 * Uses up a code of the second factor, or a recovery code: none is taken twice. Null: it was right. Attempts are bounded
 * by account.
 */
export async function consumeCode(
  context: AccountContext,
  accountId: number,
  text: string,
): Promise<WrongCode | null> {
  const { db, throttle } = context;
  const refused = await throttle.countAttempts(["code account", `${accountId}`]);
  if (refused !== null) return refused;
  const isRight =
    (await consumeTotp(db, context, accountId, text, "confirmed")) ||
    (await consumeRecoveryCode(db, accountId, text));
  if (!isRight) return wrongCode;
  await throttle.refund(["code account", `${accountId}`]);
  return null;
}

const wrongCode: Rejection<"wrong_code"> = reject(
  "wrong_code",
  "This code is wrong, or it was used already; wait for the next one",
);

async function consumeTotp(
  session: DatabaseSession,
  { clock }: Pick<AccountContext, "clock">,
  accountId: number,
  text: string,
  state: "pending" | "confirmed",
): Promise<boolean> {
  const { rows } = await sql<{ secret: Hex; at: Date }>`
    select secret, ${currentTime(clock)} as at from access.second_factor
    where account_id = ${accountId} and (confirmed_at is not null) = ${state === "confirmed"}`.execute(
    session,
  );
  const [row] = rows;
  const step = row === undefined ? null : matchingStep(bytesOf(row.secret), text, row.at);
  if (row === undefined || step === null) return false;
  const { numAffectedRows } = await sql`
    update access.second_factor set last_step = ${step}
    where account_id = ${accountId} and secret = ${bytesOf(row.secret)} and last_step < ${step}`.execute(
    session,
  );
  return numAffectedRows === 1n;
}

async function consumeRecoveryCode(
  db: Database,
  accountId: number,
  text: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from access.recovery_code
    where account_id = ${accountId} and hash = ${hashKey(plainCode(text))}`.execute(db);
  return numAffectedRows === 1n;
}

/** 80 random bits each, in groups of four. */
export async function makeRecoveryCodes(
  transaction: DatabaseSession,
  accountId: number,
): Promise<readonly string[]> {
  const codes = Array.from({ length: recoveryCodes }, () => base32(randomBytes(10)));
  await sql`delete from access.recovery_code where account_id = ${accountId}`.execute(transaction);
  await sql`
    insert into access.recovery_code (account_id, hash)
    select ${accountId}, hash from unnest(${codes.map(hashKey)}::bytea[]) hash`.execute(
    transaction,
  );
  return codes.map((code) => (code.match(/.{4}/g) ?? []).join("-").toLowerCase());
}

const plainCode = (text: string): string => text.replaceAll(/[\s-]/g, "").toUpperCase();

const bytesOf = (hex: Hex): Buffer => Buffer.from(hex.slice(2), "hex");

/** Time-based one-time passwords, RFC 6238, with what authenticator programs know: SHA-1, 30 seconds, 6 digits. */
export const stepSeconds = 30;
const digits = 6;

/** Steps before and after the current one whose codes are taken: clocks differ, and people type. */
const tolerance = 1;

/** RFC 4226 §4 recommends 160 bits. */
export const makeTotpSecret = (): Buffer => randomBytes(20);

type CodeOptions = { readonly algorithm?: string; readonly length?: number };

/** The code of a time step: RFC 4226 §5.3. */
export function codeAt(
  secret: Uint8Array,
  step: number,
  { algorithm = "sha1", length = digits }: CodeOptions = {},
): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac(algorithm, secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  const value = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(value % 10 ** length).padStart(length, "0");
}

export const stepAt = (time: Date): number => Math.floor(time.getTime() / 1000 / stepSeconds);

/** The step near `time` whose code this is; null: none. Spaces are ignored. */
export function matchingStep(secret: Uint8Array, text: string, time: Date): number | null {
  const code = text.replaceAll(/\s/g, "");
  const now = stepAt(time);
  // The newest first: of equal codes it is the one that rules out most.
  for (let step = now + tolerance; step >= now - tolerance; step -= 1) {
    if (codeAt(secret, step) === code) return step;
  }
  return null;
}

/** The address that authenticator programs read from a QR code. */
export function totpAddress(secret: Uint8Array, account: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** RFC 4648 §6, without padding. */
export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => alphabet[Number.parseInt(group.padEnd(5, "0"), 2)]).join("");
}
