import { type Command, InvalidArgumentError } from "commander";
import { openMailer } from "#api/accounts/mail.ts";
import { endSecondFactor } from "#api/accounts/second-factor.ts";
import { endSessions } from "#api/accounts/sessions.ts";
import {
  type AccountSelector,
  parseEmail,
  readAccount,
  readAccounts,
  type StoredAccount,
  setSuspended,
} from "#api/accounts/stored-accounts.ts";
import { hashKey, isKey, type KeyType } from "#api/keys/key-text.ts";
import { createPermanentKey, readKeys, revokeKey, type StoredKey } from "#api/keys/stored-keys.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { createLogger } from "../output/logger.ts";
import { type Opened, withDatabase } from "./open-database.ts";
import { type JsonFlag, print, tableLines } from "./output.ts";

/** `op accounts list`, `show`, `suspend`, `resume`, `delete-sessions` and `remove-second-factor` */
export function addAccounts(program: Command): void {
  const accounts = program.command("accounts").description("accounts of the developer section");
  accounts.command("list").description("list all accounts, newest first").action(listAccounts);
  const one = (name: string, description: string, work: Work) =>
    accounts
      .command(name)
      .description(description)
      .argument("<account>", "account number, e-mail address or wallet")
      .action((which: string, options: JsonFlag, command: Command) =>
        withAccount(name, which, options, command, work),
      );
  one("show", "print an account and its keys, including revoked and expired ones", show);
  one(
    "suspend",
    "suspend an account: its keys, tokens and sessions fail on their next request",
    suspend,
  );
  one("resume", "resume a suspended account: its keys and tokens work again", resume);
  one("delete-sessions", "end all sessions of an account", deleteSessions);
  one(
    "remove-second-factor",
    "switch off the second factor of an owner who has lost it, and mail the owner",
    removeSecondFactor,
  );
}

async function listAccounts({ json }: JsonFlag): Promise<void> {
  await withDatabase("accounts list", async ({ db }) => {
    const accounts = await readAccounts(db);
    print(json, { accounts }, accountLines(accounts));
  });
}

function accountLines(accounts: readonly StoredAccount[]): string[] {
  const head = ["number", "account", "created", "last seen", "keys", "client key", "tokens"];
  const rows = accounts.map((account) => {
    const { id, name, createdAt, lastSeenAt, keys, hasClientKey, tokens } = account;
    const counts = [`${keys}`, hasClientKey ? "yes" : "no", `${tokens}`, `${account.sessions}`];
    return [`${id}`, name, day(createdAt), day(lastSeenAt), ...counts, accountState(account)];
  });
  return tableLines([[...head, "sessions", "state"], ...rows]);
}

const day = (date: Date | null) => date?.toISOString().slice(0, 16) ?? "never";

const accountState = ({ suspendedAt }: StoredAccount) =>
  suspendedAt === null ? "active" : `suspended ${day(suspendedAt)}`;

type Work = (opened: Opened, account: StoredAccount, json: boolean | undefined) => Promise<void>;

async function withAccount(
  name: string,
  text: string,
  { json }: JsonFlag,
  command: Command,
  work: Work,
): Promise<void> {
  const which = chosenAccount(text);
  if (which === undefined) {
    command.error("expected an account number, an e-mail address or a wallet", { exitCode: 2 });
    return;
  }
  await withDatabase(`accounts ${name}`, async (opened) => {
    const account = await readAccount(opened.db, which);
    if (account !== null) return work(opened, account, json);
    process.stderr.write("no such account\n");
    process.exitCode = 1;
  });
}

function chosenAccount(text: string): AccountSelector | undefined {
  if (/^\d{1,9}$/.test(text)) return { id: Number(text) };
  if (/^0x[0-9a-f]{40}$/i.test(text)) return { wallet: text.toLowerCase() };
  const email = parseEmail(text);
  return isRejection(email) ? undefined : { email };
}

const show: Work = async ({ db, config }, account, json) => {
  const keys = await readKeys(db, { type: null, includeEnded: true, accountId: account.id });
  const lines = keys.length === 0 ? [] : ["", ...keyLines(keys, config.access.limits)];
  print(json, { account, keys }, [...accountLines([account]), ...lines]);
};

const suspend: Work = async ({ db }, { id, name }, json) => {
  const hasChanged = await setSuspended(db, id, true);
  // After a resume the user has to sign in again.
  await endSessions(db, id);
  print(json, { id, hasChanged }, [`${name} ${hasChanged ? "is" : "was already"} suspended`]);
};

const resume: Work = async ({ db }, { id, name }, json) => {
  const hasChanged = await setSuspended(db, id, false);
  print(json, { id, hasChanged }, [`${name} ${hasChanged ? "is resumed" : "was not suspended"}`]);
};

const deleteSessions: Work = async ({ db }, { id, name }, json) => {
  const ended = await endSessions(db, id);
  print(json, { id, ended }, [`${ended} sessions of ${name} deleted`]);
};

const removeSecondFactor: Work = async ({ db, config }, { id, name, email }, json) => {
  const sink = (line: string) => void process.stderr.write(`${line}\n`);
  const logger = createLogger("op", config.log.level, sink);
  const mailer = openMailer({ smtp: config.mail, isLoopback: false, logger });
  const context = { db, mailer, baseUrl: config.http.baseUrl };
  const hasChanged = await endSecondFactor(context, { accountId: id, email }, "all");
  await mailer.close();
  const what = hasChanged ? "is removed" : "was not set up";
  print(json, { id, hasChanged }, [`the second factor of ${name} ${what}`]);
};

type KeyFlags = { json?: boolean };
type CreateOptions = KeyFlags & { name: string; perMinute?: number };
type ListOptions = KeyFlags & { instant?: boolean; ended?: boolean };

const mostPerMinute = 1_000_000;

/** `op keys create`, `op keys list` and `op keys revoke` */
export function addKeys(program: Command): void {
  const keys = program.command("keys").description("API keys");
  keys
    .command("create")
    .description("create a permanent key and print it; it is shown only once")
    .requiredOption("--name <name>", "name or purpose", parseName)
    .option("--per-minute <requests>", "requests per minute of this key", parsePerMinute)
    .action(create);
  keys
    .command("list")
    .description("list permanent keys, newest first")
    .option("--instant", "list instant keys instead")
    .option("--ended", "include revoked and expired keys")
    .action(listKeys);
  keys
    .command("revoke")
    .description("revoke a key: its next request fails")
    .argument("<key>", "key number, or the key itself")
    .action(revoke);
}

function parseName(text: string): string {
  const name = text.trim();
  if (name.length >= 1 && name.length <= 100) return name;
  throw new InvalidArgumentError("expected 1 to 100 characters");
}

function parsePerMinute(text: string): number {
  const requests = Number(text);
  if (/^\d{1,7}$/.test(text) && requests >= 1 && requests <= mostPerMinute) return requests;
  throw new InvalidArgumentError(`expected 1 to ${mostPerMinute}`);
}

async function create({ name, perMinute, json }: CreateOptions): Promise<void> {
  await withDatabase("keys create", async ({ db, config }) => {
    const { id, key } = await createPermanentKey(db, { name, perMinute: perMinute ?? null });
    const requestsPerMinute = perMinute ?? config.access.limits.permanent;
    print(json, { id, key, name, requestsPerMinute }, [
      key,
      `number ${id}, ${limitOf(requestsPerMinute)}; it is stored only as a hash and cannot be shown again`,
    ]);
  });
}

async function listKeys({ instant, ended, json }: ListOptions): Promise<void> {
  await withDatabase("keys list", async ({ db, config }) => {
    const { limits } = config.access;
    const type: KeyType = instant ? "instant" : "permanent";
    const keys = await readKeys(db, { type, includeEnded: ended ?? false });
    print(json, { keys }, keyLines(keys, limits));
  });
}

/** Keys as text lines; `limits` apply to keys without their own. */
function keyLines(keys: readonly StoredKey[], limits: Readonly<Record<KeyType, number>>): string[] {
  const head = ["number", "name", "ends in", "limit", "created", "last used", "state", "account"];
  return tableLines([head, ...keys.map((key) => rowOf(key, key.perMinute ?? limits[key.type]))]);
}

function rowOf(key: StoredKey, perMinute: number): string[] {
  const day = (date: Date | null) => date?.toISOString().slice(0, 16) ?? "never";
  const { id, name, ending, createdAt, lastUsedAt, account } = key;
  const limit = limitOf(perMinute);
  const times = [day(createdAt), day(lastUsedAt)];
  return [`${id}`, name ?? "-", ending, limit, ...times, keyState(key), account ?? "-"];
}

function keyState({ revokedAt, expiresAt }: StoredKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString().slice(0, 16)}`;
  if (expiresAt === null) return "valid";
  return `${expiresAt > new Date() ? "valid until" : "expired"} ${expiresAt.toISOString().slice(0, 16)}`;
}

const limitOf = (perMinute: number): string =>
  perMinute === 0 ? "no limit" : `${perMinute} a minute`;

async function revoke(which: string, { json }: KeyFlags, command: Command): Promise<void> {
  const chosen = chosenKey(which);
  if (chosen === undefined) {
    command.error("expected a key or a key number", { exitCode: 2 });
    return;
  }
  await withDatabase("keys revoke", async ({ db }) => {
    const revoked = await revokeKey(db, chosen);
    if (revoked === null) {
      process.stderr.write("no such key\n");
      process.exitCode = 1;
      return;
    }
    const { id, hasChanged } = revoked;
    print(json, revoked, [`key ${id} ${hasChanged ? "is revoked" : "was already revoked"}`]);
  });
}

function chosenKey(which: string) {
  if (/^\d{1,9}$/.test(which)) return { id: Number(which) };
  return isKey(which) ? { hash: hashKey(which) } : undefined;
}
