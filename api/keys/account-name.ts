import { sql } from "kysely";

/** How an account `a` is called: by its e-mail address, else by the first of its wallets. */
export const accountName = sql<string>`coalesce(a.email, (
  select w.address from access.wallet w where w.account_id = a.id order by w.id limit 1), '')`;
