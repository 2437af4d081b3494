import { type Command, InvalidArgumentError } from "commander";
import { createPermanentKey, readKeys, revokeKey, type StoredKey } from "#api/keys/stored-keys.ts";
import { hashKey, isKey, type KeyType } from "#api/keys/key-text.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print, tableLines } from "../cli/output.ts";

type Json = { json?: boolean };
type CreateOptions = Json & { name: string; perMinute?: number };
type ListOptions = Json & { instant?: boolean; ended?: boolean };

const mostPerMinute = 1_000_000;

/** `op keys create`, `op keys list` and `op keys revoke` */
export function addKeys(program: Command): void {
  const keys = program.command("keys").description("API keys");
  keys
    .command("create")
    .description("create a permanent key and print it; it is shown only once")
    .requiredOption("--name <name>", "name or purpose", parseName)
    .option("--per-minute <requests>", "requests per minute of this key", parsePerMinute)
    .option("--json", "print JSON")
    .exitOverride()
    .action(create);
  keys
    .command("list")
    .description("list permanent keys, newest first")
    .option("--instant", "list instant keys instead")
    .option("--ended", "include revoked and expired keys")
    .option("--json", "print JSON")
    .exitOverride()
    .action(list);
  keys
    .command("revoke")
    .description("revoke a key: its next request fails")
    .argument("<key>", "key number, or the key itself")
    .option("--json", "print JSON")
    .exitOverride()
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

async function list({ instant, ended, json }: ListOptions): Promise<void> {
  await withDatabase("keys list", async ({ db, config }) => {
    const { limits } = config.access;
    const type: KeyType = instant ? "instant" : "permanent";
    const keys = await readKeys(db, { type, includeEnded: ended ?? false });
    print(json, { keys }, keyLines(keys, limits));
  });
}

/** Keys as text lines; `limits` apply to keys without their own. */
export function keyLines(
  keys: readonly StoredKey[],
  limits: Readonly<Record<KeyType, number>>,
): string[] {
  const head = ["number", "name", "ends in", "limit", "created", "last used", "state", "account"];
  return tableLines([head, ...keys.map((key) => rowOf(key, key.perMinute ?? limits[key.type]))]);
}

function rowOf(key: StoredKey, perMinute: number): string[] {
  const day = (date: Date | null) => date?.toISOString().slice(0, 16) ?? "never";
  const { id, name, ending, createdAt, lastUsedAt, account } = key;
  const limit = limitOf(perMinute);
  const times = [day(createdAt), day(lastUsedAt)];
  return [`${id}`, name ?? "-", ending, limit, ...times, stateOf(key), account ?? "-"];
}

function stateOf({ revokedAt, expiresAt }: StoredKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString().slice(0, 16)}`;
  if (expiresAt === null) return "valid";
  return `${expiresAt > new Date() ? "valid until" : "expired"} ${expiresAt.toISOString().slice(0, 16)}`;
}

const limitOf = (perMinute: number): string =>
  perMinute === 0 ? "no limit" : `${perMinute} a minute`;

async function revoke(which: string, { json }: Json, command: Command): Promise<void> {
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
