import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import { currentTime } from "../keys/clock.ts";
import type { AccountContext } from "./account-context.ts";
import { newPlaceMail } from "./mail.ts";

/** The use of a credential. `address`: as callers without a key are counted. */
export type CredentialUse = {
  readonly accountId: number;
  readonly address: string;
  readonly credential: Credential;
};

type Credential =
  | "an API key"
  | "a bearer token"
  | "the client key"
  | "the password"
  | "the wallet";

/** Days without use after which a network counts as new again. */
export const placeDays = 180;

/** The network of a caller's address, coarse enough that a changing address is none: IPv4 /24, IPv6 /48. */
function networkOf(address: string): string {
  if (address.includes(":")) return `${address.split(":").slice(0, 3).join(":")}::/48`;
  return /^\d+(\.\d+){3}$/.test(address) ? address.replace(/\d+$/, "0/24") : address;
}

type Context = Pick<AccountContext, "db" | "clock" | "throttle" | "mailer" | "baseUrl">;

/**
 * Notes where accounts are used from, and mails an owner about a network that is new. The first one of an account is
 * where it was made. Owners of programs that run in many networks get a bounded number of mails a day.
 */
export async function notePlaces(context: Context, uses: readonly CredentialUse[]): Promise<void> {
  const { db, clock } = context;
  const networks = new Map(
    uses.map((use) => [`${use.accountId} ${networkOf(use.address)}`, use] as const),
  );
  const chosen = [...networks.values()];
  const { rows } = await sql<{ accountId: number; network: string; email: string | null }>`
    with used as materialized (
      select u.account_id, u.network, a.email
      from unnest(${chosen.map(({ accountId }) => accountId)}::int[],
                  ${chosen.map(({ address }) => networkOf(address))}::text[]) as u (account_id, network)
           join access.account a on a.id = u.account_id
    ),
    known as materialized (
      select distinct account_id from access.place where account_id in (select account_id from used)
    ),
    noted as (
      insert into access.place as p (account_id, network, first_at, last_at)
      select account_id, network, ${currentTime(clock)}, ${currentTime(clock)} from used
      order by account_id, network
      on conflict (account_id, network) do update set last_at = excluded.last_at
      returning account_id, network, xmax = 0 as is_new
    )
    select n.account_id as "accountId", n.network, u.email
    from noted n join used u using (account_id, network) join known using (account_id)
    where n.is_new`.execute(db);
  for (const { accountId, network, email } of rows) {
    const use = networks.get(`${accountId} ${network}`);
    if (use !== undefined) await mailPlace(context, use, email);
  }
}

async function mailPlace(
  { throttle, mailer, baseUrl, clock }: Context,
  { accountId, address, credential }: CredentialUse,
  email: string | null,
): Promise<void> {
  if ((await throttle.countAttempts(["place mails account", `${accountId}`])) !== null) return;
  const at = clock() ?? new Date();
  mailer.send(newPlaceMail({ to: email, baseUrl, credential, network: networkOf(address), at }));
}

const maxRemembered = 50_000;
const rememberedMs = 24 * 3_600_000;

/** Notes places of requests with keys and tokens periodically, so that a request costs no statement. */
export function openPlaces(context: Context) {
  const remembered = new LRUCache<string, true>({ max: maxRemembered, ttl: rememberedMs });
  let pending = new Map<string, CredentialUse>();
  return {
    onUse(use: CredentialUse): void {
      const name = `${use.accountId} ${networkOf(use.address)}`;
      if (remembered.has(name) || pending.size >= maxRemembered) return;
      remembered.set(name, true);
      pending.set(name, use);
    },
    /** Writes what is new since the last flush; on failure it is kept for the next one. */
    async flush(): Promise<void> {
      if (pending.size === 0) return;
      const taken = pending;
      pending = new Map();
      try {
        await notePlaces(context, [...taken.values()]);
      } catch (error) {
        pending = new Map([...taken, ...pending]);
        throw error;
      }
    },
  };
}

export type Places = ReturnType<typeof openPlaces>;
