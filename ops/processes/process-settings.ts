import type { RoleName } from "./run-role.ts";

type Variables = Record<string, string | undefined>;

const everybody: readonly RoleName[] = ["indexer", "projector", "jobs", "api", "console"];
const askPartners: readonly RoleName[] = ["jobs", "api"];

/**
 * The processes that use a secret, and what of the console's goes with it, by the settings' names; the first that
 * matches counts. Others do not have it in their environment.
 */
const users: readonly (readonly [name: RegExp, roles: readonly RoleName[]])[] = [
  [/^DATABASE_URL$/, everybody],
  // Of an administrator, and of other processes: each has its own as DATABASE_URL.
  [/^DATABASE_URL_/, []],
  [/^DATABASE_POOLER_URL$/, ["api"]],
  // The console looks whether replicas follow.
  [/^DATABASE_READ_URLS?$/, ["api", "console"]],
  [/^(RPC|WS)_URL_\d+$/, everybody],
  // An address that others reach asks for the password.
  [/^OPERATOR_(PORT|HOST|PASSWORD)$/, ["console"]],
  [/^(SMTP_URL|MAIL_FROM)$/, ["api"]],
  [/^PARTNER_[A-Z]_(URL|KEY|STREAM_URL)$/, askPartners],
  [/^ANALYTICS_(CLICKHOUSE|READ)_URL$/, ["jobs"]],
];

/** Who has a setting; undefined: everybody, as it is no secret. */
export const usersOf = (name: string): readonly RoleName[] | undefined =>
  users.find(([pattern]) => pattern.test(name))?.[1];

/** What a process gets of the service's environment: the address of its own database user, and the secrets that it uses. */
export function settingsOf(role: RoleName, variables: Variables): Variables {
  const kept = Object.entries(variables).filter(
    ([name]) => usersOf(name)?.includes(role) !== false,
  );
  const ownUrl = variables[`DATABASE_URL_${role.toUpperCase()}`] || variables.DATABASE_URL;
  return { ...Object.fromEntries(kept), DATABASE_URL: ownUrl };
}
