import { isIP, isIPv4 } from "node:net";
import { sql } from "kysely";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { type Scope, scopes } from "../http/limit.ts";
import type { RequestLimits } from "./count-requests.ts";
import type { KeyType } from "./key-text.ts";
import { type KeyRequest, readKeyRequests } from "./request-log.ts";

/** What a key may be used for, until when and from where. */
export type KeyTerms = {
  /** Null: everything. */
  readonly scopes: readonly Scope[] | null;
  /** Null: never. */
  readonly expiresAt: Date | null;
  /** Networks in CIDR notation; null: all. */
  readonly networks: readonly string[] | null;
};

export const unlimitedTerms: KeyTerms = { scopes: null, expiresAt: null, networks: null };

const maxNetworks = 20;
const maxYears = 10;
const yearMs = 365.25 * 86_400_000;

/** Networks and addresses, separated by commas or spaces; null where there are none. */
export function parseNetworks(text: string): readonly string[] | null | Rejection<"bad_networks"> {
  const networks = text.split(/[\s,]+/).filter((one) => one !== "");
  if (networks.length === 0) return null;
  if (networks.length > maxNetworks)
    return reject("bad_networks", `List ${maxNetworks} networks or fewer`);
  const wrong = networks.find((one) => !isNetwork(one));
  if (wrong === undefined) return networks;
  const message = `“${wrong.slice(0, 50)}” is no network: write 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32`;
  return reject("bad_networks", message);
}

function isNetwork(text: string): boolean {
  const [address = "", length, ...rest] = text.split("/");
  if (rest.length > 0 || isIP(address) === 0 || address.includes("%")) return false;
  // Callers with such an address are known by its IPv4 form.
  if (/^[0:]*:ffff:/i.test(address)) return false;
  if (length === undefined) return true;
  return /^\d{1,3}$/.test(length) && Number(length) <= (isIPv4(address) ? 32 : 128);
}

/** A day (YYYY-MM-DD), at whose start in UTC a key expires; null where there is none. */
export function parseExpiry(text: string, now: Date): Date | null | Rejection<"bad_expiry"> {
  if (text.trim() === "") return null;
  const date = new Date(`${text.trim()}T00:00:00.000Z`);
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text.trim()) && !Number.isNaN(date.getTime());
  if (!isDay || date.toISOString().slice(0, 10) !== text.trim())
    return reject("bad_expiry", "Write a day as 2027-01-31");
  if (date <= now) return reject("bad_expiry", "Choose a day in the future");
  if (date.getTime() > now.getTime() + maxYears * yearMs)
    return reject("bad_expiry", `Choose a day within ${maxYears} years`);
  return date;
}

/** At least one of the scopes. All of them are named one by one: scopes to come are not among them. */
export function parseScopes(
  isChosen: (scope: Scope) => boolean,
): readonly Scope[] | Rejection<"bad_scopes"> {
  const chosen = scopes.filter(isChosen);
  return chosen.length > 0 ? chosen : reject("bad_scopes", "Choose what the key may be used for");
}

/** What a key may know of itself. */
type OwnKey = KeyTerms & {
  readonly type: KeyType;
  readonly name: string | null;
  /** 0: unlimited. */
  readonly requestsPerMinute: number;
  readonly createdAt: Date;
  /** Another key replaced it; it expires a day later. */
  readonly isReplaced: boolean;
};

/** What the holder of a key may do with it, by the key's number. */
export type OwnKeys = {
  read(id: number): Promise<OwnKey | null>;
  readRequests(
    id: number,
    page: { readonly before: bigint | null; readonly limit: number },
  ): Promise<KeyRequest[]>;
};

export const openOwnKeys = (db: Database, limits: RequestLimits): OwnKeys => ({
  read: (id) => readOwnKey(db, id, limits),
  readRequests: (id, page) => readKeyRequests(db, id, page),
});

async function readOwnKey(db: Database, id: number, limits: RequestLimits): Promise<OwnKey | null> {
  const { rows } = await sql<Omit<OwnKey, "requestsPerMinute"> & { perMinute: number | null }>`
    select type, name, per_minute as "perMinute", created_at as "createdAt", expires_at as "expiresAt",
           replaced_at is not null as "isReplaced", scopes, networks::text[] as networks
    from access.key where id = ${id}`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const { perMinute, ...key } = row;
  return { ...key, requestsPerMinute: perMinute ?? limits[key.type] };
}
