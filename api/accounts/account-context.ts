import type { ChainId } from "#chains/index.ts";
import type { ChainReads } from "#jobs/orders/evaluate-order.ts";
import type { Database } from "#projections/log/database.ts";
import type { Clock } from "../keys/clock.ts";
import type { Mailer } from "./mail.ts";
import type { Passwords } from "./passwords.ts";
import type { Throttle } from "./throttle.ts";

/** Dependencies of the account functions. `baseUrl` has no trailing slash. */
export type AccountContext = ChainReads & {
  readonly db: Database;
  readonly clock: Clock;
  readonly throttle: Throttle;
  readonly passwords: Passwords;
  readonly mailer: Mailer;
  readonly baseUrl: string;
  /** The chains served: where contracts are asked about signatures. */
  readonly chains: readonly ChainId[];
  /** Minutes for which a password or code counts for what needs one. */
  readonly reauthenticationMinutes: number;
  /** Origins that webhooks may be sent to although they are not public. */
  readonly webhookOrigins: readonly string[];
};

/** What accounts manage their webhooks with. */
export type WebhookOwners = Pick<AccountContext, "db" | "clock" | "throttle" | "webhookOrigins">;
