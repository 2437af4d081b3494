import { sql } from "kysely";
import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database, Session } from "#projections/log/database.ts";
import type { Scope } from "../http/limit.ts";
import { currentTime } from "../keys/clock.ts";
import { unlimitedTerms } from "../keys/key-terms.ts";
import type { AccountContext } from "./account-context.ts";
import { createAccountKey, readAccountKeys, rotateAccountKey } from "./account-keys.ts";
import { walletMail } from "./mail.ts";
import { notePlaces } from "./places.ts";
import { consumeCode, hasSecondFactor } from "./second-factor.ts";
import type { AccountSession, Visitor } from "./sessions.ts";
import { type BegunSession, beginSession, noteProof, suspended } from "./sign-in.ts";
import {
  consumeNonce,
  type ProvenWallet,
  proveWallet,
  type SignedSiwe,
  type SiweRejection,
} from "./siwe.ts";
import type { TooMany } from "./throttle.ts";

type WalletOwner = {
  readonly id: number;
  readonly email: string | null;
  readonly isSuspended: boolean;
  readonly hasSecondFactor: boolean;
};

/** The account that a wallet signs in to; null: none yet. */
async function readWalletOwner(
  db: Session,
  { address, chainId }: ProvenWallet,
): Promise<WalletOwner | null> {
  const { rows } = await sql<WalletOwner>`
    select a.id, a.email, a.suspended_at is not null as "isSuspended",
           ${hasSecondFactor(sql`a.id`)} as "hasSecondFactor"
    from access.wallet w join access.account a on a.id = w.account_id
    where w.address = ${address} and w.chain_id is not distinct from ${chainId}::int`.execute(db);
  return rows[0] ?? null;
}

/**
 * The owner's account, or a new one. New ones are bounded by network: wallets cost nothing, and each account has keys with
 * limits of their own.
 */
async function admitWallet(
  { db, throttle }: AccountContext,
  wallet: ProvenWallet,
  network: string,
): Promise<WalletOwner | null | Rejection<"suspended"> | TooMany> {
  const owner = await readWalletOwner(db, wallet);
  if (owner?.isSuspended) return suspended;
  if (owner !== null) return owner;
  return await throttle.countAttempts(["wallet accounts address", network]);
}

/** Uses up the nonce for the wallet's account, which is made if there is none. */
async function enterAccount(
  transaction: Session,
  { clock }: AccountContext,
  wallet: ProvenWallet,
): Promise<number | Rejection<"siwe_expired">> {
  const used = await consumeNonce(transaction, { clock }, wallet);
  if (used !== null) return used;
  const owner = await readWalletOwner(transaction, wallet);
  if (owner !== null) return owner.id;
  const { rows } = await sql<{ id: number; isOwner: boolean }>`
    with made as (
      insert into access.account (created_at) values (${currentTime(clock)}) returning id
    ),
    linked as (
      insert into access.wallet (account_id, address, chain_id, created_at)
      select id, ${wallet.address}, ${wallet.chainId}::int, ${currentTime(clock)} from made
      on conflict do nothing returning account_id
    )
    select id, exists (select from linked) as "isOwner" from made`.execute(transaction);
  const [made] = rows;
  if (made === undefined) throw new Error("insert of an account returned no row");
  if (made.isOwner) return made.id;
  // Another message of the same wallet came first.
  await sql`delete from access.account where id = ${made.id}`.execute(transaction);
  const first = await readWalletOwner(transaction, wallet);
  if (first === null) throw new Error("a wallet is linked to no account");
  return first.id;
}

type WalletSignIn = SignedSiwe & {
  /** The browser's existing session, which ends. */
  readonly replacedSessionId: number | null;
};

/** Starts a session in the account of a wallet; with a second factor it begins after its code. */
export async function signInByWallet(
  context: AccountContext,
  { replacedSessionId, ...signed }: WalletSignIn,
  visitor: Visitor,
): Promise<BegunSession | SiweRejection | Rejection<"suspended">> {
  const wallet = await proveWallet(context, signed, visitor.address);
  if (isRejection(wallet)) return wallet;
  const admitted = await admitWallet(context, wallet, visitor.address);
  if (isRejection(admitted)) return admitted;
  const begun = await context.db.transaction().execute(async (transaction) => {
    const accountId = await enterAccount(transaction, context, wallet);
    if (isRejection(accountId)) return accountId;
    await sql`delete from access.session where id = ${replacedSessionId}`.execute(transaction);
    return { accountId, ...(await beginSession(transaction, context, accountId, visitor)) };
  });
  if (isRejection(begun)) return begun;
  if ("token" in begun) {
    const use = { accountId: begun.accountId, address: visitor.address } as const;
    await notePlaces(context, [{ ...use, credential: "the wallet" }]);
  }
  return begun;
}

/** The proof again, by a wallet of the account, where there is no second factor. */
export async function reauthenticateByWallet(
  context: AccountContext,
  { id, accountId }: AccountSession,
  signed: SignedSiwe,
  network: string,
): Promise<SiweRejection | Rejection<"second_factor_required"> | null> {
  const wallet = await proveWallet(context, signed, network);
  if (isRejection(wallet)) return wallet;
  return await context.db.transaction().execute(async (transaction) => {
    const owner = await readWalletOwner(transaction, wallet);
    if (owner?.id !== accountId) return otherWallet;
    if (owner.hasSecondFactor) return codeRequired;
    const used = await consumeNonce(transaction, context, wallet);
    if (used !== null) return used;
    await noteProof(transaction, context.clock, id);
    return null;
  });
}

const otherWallet: Rejection<"wrong_signature"> = reject(
  "wrong_signature",
  "This wallet does not sign in to this account",
);

type WantedKey = SignedSiwe & {
  readonly name: string;
  /** Null: every scope, also those to come. */
  readonly scopes: readonly Scope[] | null;
  /** Of the account's second factor. */
  readonly code: string | undefined;
};

type WalletKey = {
  readonly id: number;
  readonly key: string;
  readonly name: string;
  readonly wallet: Address;
};

type KeyRejection =
  | SiweRejection
  | Rejection<
      | "suspended"
      | "second_factor_required"
      | "wrong_code"
      | "bad_name"
      | "too_many_keys"
      | "no_such_key"
    >;

/** Makes a key in the account of a wallet. It takes the place of the account's key of that name, as a rotation does. */
export async function createWalletKey(
  context: AccountContext,
  { name, scopes, code, ...signed }: WantedKey,
  network: string,
): Promise<WalletKey | KeyRejection> {
  const { db, clock } = context;
  const wallet = await proveWallet(context, signed, network);
  if (isRejection(wallet)) return wallet;
  const admitted = await admitWallet(context, wallet, network);
  if (isRejection(admitted)) return admitted;
  if (admitted?.hasSecondFactor) {
    if (code === undefined) return codeRequired;
    const wrong = await consumeCode(context, admitted.id, code);
    if (wrong !== null) return wrong;
  }
  const accountId = await db
    .transaction()
    .execute((transaction) => enterAccount(transaction, context, wallet));
  if (isRejection(accountId)) return accountId;
  const owner = { accountId, email: admitted?.email ?? null };
  const terms = { ...unlimitedTerms, scopes };
  const keys = await readAccountKeys(db, accountId, clock);
  const former = keys.find((one) => one.name === name.trim() && !one.isReplaced);
  const made =
    former === undefined
      ? await createAccountKey(context, owner, name, terms)
      : await rotateAccountKey(context, owner, former.id, terms);
  return isRejection(made) ? made : { ...made, wallet: wallet.address };
}

const codeRequired: Rejection<"second_factor_required"> = reject(
  "second_factor_required",
  "code: this account has a second factor; send a code of it, or a recovery code",
  [{ field: "code", message: "must be a code of the account's second factor" }],
);

/** A wallet that signs in to an account. */
export type LinkedWallet = {
  readonly id: number;
  readonly address: Address;
  /** Null: a key signs; else a contract on this chain. */
  readonly chainId: ChainId | null;
  readonly createdAt: Date;
};

/** The wallets of an account, the first one first. */
export async function readWallets(db: Database, accountId: number): Promise<LinkedWallet[]> {
  const { rows } = await sql<LinkedWallet>`
    select id, address, chain_id as "chainId", created_at as "createdAt"
    from access.wallet where account_id = ${accountId} order by id`.execute(db);
  return rows;
}

/** Of an account. */
const maxWallets = 10;

/** Lets a wallet sign in to an account, too. */
export async function linkWallet(
  context: AccountContext,
  { accountId, email }: AccountSession,
  signed: SignedSiwe,
  network: string,
): Promise<SiweRejection | Rejection<"wallet_taken" | "too_many_wallets"> | null> {
  const { db, clock, mailer, baseUrl } = context;
  const wallet = await proveWallet(context, signed, network);
  if (isRejection(wallet)) return wallet;
  const refused = await db.transaction().execute(async (transaction) => {
    const used = await consumeNonce(transaction, context, wallet);
    if (used !== null) return used;
    if ((await countWallets(transaction, accountId)) >= maxWallets) return tooManyWallets;
    const { numAffectedRows } = await sql`
      insert into access.wallet (account_id, address, chain_id, created_at)
      values (${accountId}, ${wallet.address}, ${wallet.chainId}::int, ${currentTime(clock)})
      on conflict do nothing`.execute(transaction);
    if (numAffectedRows === 1n) return null;
    const owner = await readWalletOwner(transaction, wallet);
    return owner?.id === accountId ? null : walletTaken;
  });
  const what = `The wallet ${wallet.address} was linked to`;
  if (refused === null) mailer.send(walletMail({ to: email, baseUrl, what }));
  return refused;
}

/** The account's row is locked, so that its wallets are counted one request after the other. */
async function countWallets(transaction: Session, accountId: number): Promise<number> {
  await sql`select from access.account where id = ${accountId} for update`.execute(transaction);
  const { rows } = await sql<{ wallets: number }>`
    select count(*)::int as wallets from access.wallet where account_id = ${accountId}`.execute(
    transaction,
  );
  return rows[0]?.wallets ?? 0;
}

const walletTaken: Rejection<"wallet_taken"> = reject(
  "wallet_taken",
  "This wallet signs in to another account. Unlink it there, or delete that account.",
);

const tooManyWallets: Rejection<"too_many_wallets"> = reject(
  "too_many_wallets",
  `An account can have at most ${maxWallets} wallets. Unlink one that is no longer used.`,
);

/** Takes a wallet from an account that has another way in. One that it does not have is none. */
export async function unlinkWallet(
  { db, mailer, baseUrl }: AccountContext,
  { accountId, email }: AccountSession,
  id: number,
): Promise<Rejection<"last_way_in"> | null> {
  const done = await db.transaction().execute(async (transaction) => {
    const wallets = await countWallets(transaction, accountId);
    if (email === null && wallets <= 1) return lastWayIn;
    const { rows } = await sql<{ address: Address }>`
      delete from access.wallet where id = ${id} and account_id = ${accountId}
      returning address`.execute(transaction);
    return rows[0] ?? null;
  });
  if (done === null || isRejection(done)) return done;
  const what = `The wallet ${done.address} was unlinked from`;
  mailer.send(walletMail({ to: email, baseUrl, what }));
  return null;
}

const lastWayIn: Rejection<"last_way_in"> = reject(
  "last_way_in",
  "Nobody could sign in without this wallet. Link another one first, or delete the account.",
);
