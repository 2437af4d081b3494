import type { Command } from "commander";
import { isRejection } from "#projections/domain/rejection.ts";
import { parseEmail, type AccountSelector, readAccount, readAccounts, type StoredAccount, setSuspended } from "#api/accounts/stored-accounts.ts";
import { openMailer } from "#api/accounts/mail.ts";
import { endSessions } from "#api/accounts/sessions.ts";
import { endSecondFactor } from "#api/accounts/second-factor.ts";
import { readKeys } from "#api/keys/stored-keys.ts";
import { createLogger } from "#api/run/output/logger.ts";
import { type Opened, withDatabase } from "../cli/open-database.ts";
import { print, tableLines } from "../cli/output.ts";
import { keyLines } from "./keys.ts";

type Json = { json?: boolean };

/** `op accounts list`, `show`, `suspend`, `resume`, `delete-sessions` and `remove-second-factor` */
export function addAccounts(program: Command): void {
  const accounts = program.command("accounts").description("accounts of the developer section");
  accounts
    .command("list")
    .description("list all accounts, newest first")
    .option("--json", "print JSON")
    .exitOverride()
    .action(list);
  const one = (name: string, description: string, work: Work) =>
    accounts
      .command(name)
      .description(description)
      .argument("<account>", "account number or e-mail address")
      .option("--json", "print JSON")
      .exitOverride()
      .action((which: string, options: Json, command: Command) =>
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

async function list({ json }: Json): Promise<void> {
  await withDatabase("accounts list", async ({ db }) => {
    const accounts = await readAccounts(db);
    print(json, { accounts }, accountLines(accounts));
  });
}

function accountLines(accounts: readonly StoredAccount[]): string[] {
  const head = ["number", "e-mail address", "created", "last seen", "keys", "client key", "tokens"];
  const rows = accounts.map((account) => {
    const { id, email, createdAt, lastSeenAt, keys, hasClientKey, tokens } = account;
    const counts = [`${keys}`, hasClientKey ? "yes" : "no", `${tokens}`, `${account.sessions}`];
    return [`${id}`, email, day(createdAt), day(lastSeenAt), ...counts, stateOf(account)];
  });
  return tableLines([[...head, "sessions", "state"], ...rows]);
}

const day = (date: Date | null) => date?.toISOString().slice(0, 16) ?? "never";

const stateOf = ({ suspendedAt }: StoredAccount) =>
  suspendedAt === null ? "active" : `suspended ${day(suspendedAt)}`;

type Work = (opened: Opened, account: StoredAccount, json: boolean | undefined) => Promise<void>;

async function withAccount(
  name: string,
  text: string,
  { json }: Json,
  command: Command,
  work: Work,
): Promise<void> {
  const which = chosenAccount(text);
  if (which === undefined) {
    command.error("expected an e-mail address or an account number", { exitCode: 2 });
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
  const email = parseEmail(text);
  return isRejection(email) ? undefined : { email };
}

const show: Work = async ({ db, config }, account, json) => {
  const keys = await readKeys(db, { type: null, includeEnded: true, accountId: account.id });
  const lines = keys.length === 0 ? [] : ["", ...keyLines(keys, config.access.limits)];
  print(json, { account, keys }, [...accountLines([account]), ...lines]);
};

const suspend: Work = async ({ db }, { id, email }, json) => {
  const hasChanged = await setSuspended(db, id, true);
  // After a resume the user has to sign in again.
  await endSessions(db, id);
  print(json, { id, hasChanged }, [`${email} ${hasChanged ? "is" : "was already"} suspended`]);
};

const resume: Work = async ({ db }, { id, email }, json) => {
  const hasChanged = await setSuspended(db, id, false);
  print(json, { id, hasChanged }, [`${email} ${hasChanged ? "is resumed" : "was not suspended"}`]);
};

const deleteSessions: Work = async ({ db }, { id, email }, json) => {
  const ended = await endSessions(db, id);
  print(json, { id, ended }, [`${ended} sessions of ${email} deleted`]);
};

const removeSecondFactor: Work = async ({ db, config }, { id, email }, json) => {
  const sink = (line: string) => void process.stderr.write(`${line}\n`);
  const logger = createLogger("op", config.log.level, sink);
  const mailer = openMailer({ smtp: config.mail, isLoopback: false, logger });
  const context = { db, mailer, baseUrl: config.http.baseUrl };
  const hasChanged = await endSecondFactor(context, { accountId: id, email });
  await mailer.close();
  const what = hasChanged ? "is removed" : "was not set up";
  print(json, { id, hasChanged }, [`the second factor of ${email} ${what}`]);
};
