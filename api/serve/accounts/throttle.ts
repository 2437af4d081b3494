import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";
import { type Rejection, reject } from "../../../projections/domain/rejection.ts";
import { type Clock, timeOf } from "./clock.ts";

/** How often something may be tried by one subject, in a time that its first try begins. */
type Rule = { readonly most: number; readonly seconds: number };

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** What is counted, of whom. */
const throttleRules = {
  "sign-in address": { most: 30, seconds: 15 * minute },
  "sign-in account": { most: 10, seconds: 15 * minute },
  "password account": { most: 10, seconds: 15 * minute },
  "mail address": { most: 10, seconds: hour },
  "mail account": { most: 3, seconds: hour },
  "login address": { most: 30, seconds: 15 * minute },
  "login account": { most: 10, seconds: 15 * minute },
  "tokens account": { most: 100, seconds: day },
  "keys account": { most: 30, seconds: day },
} as const satisfies Record<string, Rule>;

type ThrottleRule = keyof typeof throttleRules;

/** One rule and whom it is applied to: a network address, an e-mail address or an account's id. */
type Try = readonly [rule: ThrottleRule, subject: string];

export type TooMany = Rejection<"rate_limited"> & { readonly retryAfterSeconds: number };

export type Throttle = {
  /** Counts a try under each rule, and stops at the first that is used up. Null: all of them let it pass. */
  take(...tries: readonly Try[]): Promise<TooMany | null>;
  /** Gives one back: it was no guess. */
  giveBack(...tries: readonly Try[]): Promise<void>;
};

/** Counts in the database, which all processes share, and before anything is looked up: what is refused tells nothing. */
export function openThrottle(db: Database, clock: Clock): Throttle {
  const takeOne = async ([rule, subject]: Try): Promise<TooMany | null> => {
    const { most, seconds } = throttleRules[rule];
    const { rows } = await sql<{ made: number; wait: number }>`
      insert into access.attempt as a (subject, began_at, ends_at, made)
      select ${nameOf(rule, subject)}, at, at + make_interval(secs => ${seconds}), 1
      from (select ${timeOf(clock)} as at) clock
      on conflict (subject) do update set
        began_at = case when ${isOver} then excluded.began_at else a.began_at end,
        ends_at = case when ${isOver} then excluded.ends_at else a.ends_at end,
        made = case when ${isOver} then 1 else least(a.made, ${most}::int) + 1 end
      returning made, ceil(extract(epoch from ends_at - ${timeOf(clock)}))::int as wait`.execute(
      db,
    );
    const [{ made, wait } = { made: 0, wait: 0 }] = rows;
    if (made <= most) return null;
    return {
      ...reject("rate_limited", `Too many tries; go on in ${inWords(wait)}`),
      retryAfterSeconds: wait,
    };
  };
  return {
    async take(...tries) {
      for (const one of tries) {
        const refused = await takeOne(one);
        if (refused !== null) return refused;
      }
      return null;
    },
    async giveBack(...tries) {
      await sql`
        update access.attempt set made = made - 1
        where subject = any(${tries.map(([rule, subject]) => nameOf(rule, subject))}::text[]) and made > 0`.execute(
        db,
      );
    },
  };
}

const isOver = sql.raw("a.ends_at <= excluded.began_at");

/** Hashed: what somebody typed is not kept, and is of one length. */
const nameOf = (rule: string, subject: string): string =>
  `${rule} ${createHash("sha256").update(subject).digest("base64url")}`;

const inWords = (seconds: number): string =>
  seconds <= 90 ? `${seconds} seconds` : `${Math.ceil(seconds / minute)} minutes`;
