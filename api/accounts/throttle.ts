import { createHash } from "node:crypto";
import { sql } from "kysely";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { beganLater, type Clock, currentTime } from "../keys/clock.ts";

/** How often one subject may attempt something, in a window that starts with its first attempt. */
type Rule = { readonly maxAttempts: number; readonly seconds: number };

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** What is counted, and by which subject. */
const throttleRules = {
  "sign-in address": { maxAttempts: 30, seconds: 15 * minute },
  "sign-in account": { maxAttempts: 10, seconds: 15 * minute },
  "password account": { maxAttempts: 10, seconds: 15 * minute },
  /** Right passwords, at sign-in or again: each costs a hash, and a sign-in a session. */
  "right passwords account": { maxAttempts: 100, seconds: hour },
  "mail address": { maxAttempts: 10, seconds: hour },
  "mail account": { maxAttempts: 3, seconds: hour },
  "login address": { maxAttempts: 30, seconds: 15 * minute },
  "tokens account": { maxAttempts: 100, seconds: day },
  "keys account": { maxAttempts: 30, seconds: day },
  /** New ones, secrets, replays and tests: each costs others work, or their receivers a request. */
  "webhooks account": { maxAttempts: 100, seconds: hour },
  "export account": { maxAttempts: 5, seconds: hour },
  /** What wallets and passkeys are asked to sign: each is a row until it is used or over. */
  "nonces address": { maxAttempts: 60, seconds: 15 * minute },
  /** New accounts of wallets: as many as there are instant keys. */
  "wallet accounts address": { maxAttempts: 3, seconds: day },
  "code account": { maxAttempts: 5, seconds: 15 * minute },
  "place mails account": { maxAttempts: 5, seconds: day },
} as const satisfies Record<string, Rule>;

type ThrottleRule = keyof typeof throttleRules;

/** A rule and its subject: a network address, an e-mail address or an account id. */
type Attempt = readonly [rule: ThrottleRule, subject: string];

export type TooMany = Rejection<"rate_limited"> & { readonly retryAfterSeconds: number };

export type Throttle = {
  /** Counts an attempt under each rule and stops at the first that is exhausted. Null: all rules allow it. */
  countAttempts(...tries: readonly Attempt[]): Promise<TooMany | null>;
  /** Removes one attempt from each count: it succeeded. */
  refund(...tries: readonly Attempt[]): Promise<void>;
};

/** Counts in the database, which all processes share, before anything is read, so that a refusal reveals nothing. */
export function openThrottle(db: Database, clock: Clock): Throttle {
  const countAttempt = async ([rule, subject]: Attempt): Promise<TooMany | null> => {
    const { maxAttempts, seconds } = throttleRules[rule];
    const { rows } = await sql<{ made: number; wait: number }>`
      insert into access.attempt as a (subject, began_at, ends_at, made)
      select ${nameOf(rule, subject)}, at, at + make_interval(secs => ${seconds}), 1
      from (select ${currentTime(clock)} as at) clock
      on conflict (subject) do update set
        began_at = case when ${isOver} then excluded.began_at else a.began_at end,
        ends_at = case when ${isOver} then excluded.ends_at else a.ends_at end,
        made = case when ${isOver} then 1 else least(a.made, ${maxAttempts}::int) + 1 end
      returning made, ceil(extract(epoch from ends_at - ${currentTime(clock)}))::int as wait`.execute(
      db,
    );
    const [{ made, wait } = { made: 0, wait: 0 }] = rows;
    if (made <= maxAttempts) return null;
    return {
      ...reject("rate_limited", `Too many attempts; try again in ${inWords(wait)}`),
      retryAfterSeconds: wait,
    };
  };
  return {
    async countAttempts(...tries) {
      for (const one of tries) {
        const refused = await countAttempt(one);
        if (refused !== null) return refused;
      }
      return null;
    },
    async refund(...tries) {
      await sql`
        update access.attempt set made = made - 1
        where subject = any(${tries.map(([rule, subject]) => nameOf(rule, subject))}::text[]) and made > 0`.execute(
        db,
      );
    },
  };
}

const isOver = sql<boolean>`(a.ends_at <= excluded.began_at or ${beganLater("a")})`;

/** Hashed, so that user input is not stored and has a fixed length. */
const nameOf = (rule: string, subject: string): string =>
  `${rule} ${createHash("sha256").update(subject).digest("base64url")}`;

const inWords = (seconds: number): string =>
  seconds <= 90 ? `${seconds} seconds` : `${Math.ceil(seconds / minute)} minutes`;
