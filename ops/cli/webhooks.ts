import { type Command, InvalidArgumentError } from "commander";
import { readAccounts } from "#api/accounts/stored-accounts.ts";
import {
  disableWebhook,
  enableWebhook,
  type NoWebhook,
  readWebhooks,
  type Webhook,
} from "#api/webhooks/stored-webhooks.ts";
import type { Database } from "#projections/log/database.ts";
import { withDatabase } from "./open-database.ts";
import { type JsonFlag, print, tableLines } from "./output.ts";

/** `op webhooks list`, `op webhooks disable` and `op webhooks enable` */
export function addWebhooks(program: Command): void {
  const webhooks = program.command("webhooks").description("webhooks of accounts");
  webhooks
    .command("list")
    .description("list the webhooks of all accounts: where they are sent, and how far they are")
    .action(list);
  webhooks
    .command("disable")
    .description(
      "stop deliveries of a webhook, which its owner cannot enable then, and mail the owner",
    )
    .argument("<webhook>", "webhook number", parseNumber)
    .action(disable);
  webhooks
    .command("enable")
    .description("deliver again, from where it was")
    .argument("<webhook>", "webhook number", parseNumber)
    .action(enable);
}

function parseNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a webhook number");
}

const clock = () => null;

const disable = (id: number, { json }: JsonFlag) =>
  change("disable", id, json, (db) => disableWebhook({ db, clock }, { id }, "operator"));

const enable = (id: number, { json }: JsonFlag) =>
  change("enable", id, json, (db) => enableWebhook({ db }, { id }));

async function change(
  name: "disable" | "enable",
  id: number,
  json: boolean | undefined,
  work: (db: Database) => Promise<NoWebhook | null>,
): Promise<void> {
  await withDatabase(`webhooks ${name}`, async ({ db }) => {
    if ((await work(db)) !== null) {
      process.stderr.write("no such webhook\n");
      process.exitCode = 1;
      return;
    }
    print(json, { id, isEnabled: name === "enable" }, [`webhook ${id} is ${name}d`]);
  });
}

async function list({ json }: JsonFlag): Promise<void> {
  await withDatabase("webhooks list", async ({ db }) => {
    const [webhooks, accounts] = await Promise.all([readWebhooks(db), readAccounts(db)]);
    const names = new Map(accounts.map(({ id, name }) => [id, name]));
    print(json, { webhooks }, webhookLines(webhooks, names));
  });
}

function webhookLines(webhooks: readonly Webhook[], names: ReadonlyMap<number, string>): string[] {
  if (webhooks.length === 0) return ["there are no webhooks"];
  const rows = webhooks.map((webhook) => {
    const { id, accountId, chainId, delivery, position, ordinal, url } = webhook;
    const account = names.get(accountId) ?? `${accountId}`;
    return [
      `${id}`,
      account,
      `${chainId}`,
      delivery,
      stateOf(webhook),
      `${position}-${ordinal}`,
      url,
    ];
  });
  return tableLines([
    ["number", "account", "chain", "delivery", "state", "after", "address"],
    ...rows,
  ]);
}

function stateOf({ disabledAt, disabledBy, failures, failingSince }: Webhook): string {
  if (disabledAt !== null) return `disabled by ${disabledBy} ${minuteOf(disabledAt)}`;
  if (failingSince !== null) return `${failures} failures since ${minuteOf(failingSince)}`;
  return "delivering";
}

const minuteOf = (at: Date): string => at.toISOString().slice(0, 16);
