import type { Database } from "#projections/log/database.ts";
import type { Clock } from "../keys/clock.ts";
import type { Mailer } from "./mail.ts";
import type { Passwords } from "./passwords.ts";
import type { Throttle } from "./throttle.ts";

/** Dependencies of the account functions. `baseUrl` has no trailing slash. */
export type AccountContext = {
  readonly db: Database;
  readonly clock: Clock;
  readonly throttle: Throttle;
  readonly passwords: Passwords;
  readonly mailer: Mailer;
  readonly baseUrl: string;
  /** Minutes for which a password or code counts for what needs one. */
  readonly reauthenticationMinutes: number;
};
