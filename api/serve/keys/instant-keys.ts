import type { Database } from "#projections/log/database.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import { createInstantKey, instantKeysPerDay } from "./create-key.ts";

type InstantKey = {
  readonly key: string;
  readonly type: "instant";
  readonly requestsPerMinute: number;
  readonly expiresAt: string;
  /** Address of the API reference. */
  readonly docs: string;
};

type NoKey = Rejection<"rate_limited" | "instant_keys_paused"> & {
  readonly retryAfterSeconds: number;
};

/** Creates keys for a network address. */
export type InstantKeys = { create(address: string): Promise<InstantKey | NoKey> };

export type InstantKeysOptions = {
  readonly db: Database;
  readonly requestsPerMinute: number;
  readonly docs: string;
  /** Whether an operator has paused instant keys. */
  readonly isPaused: () => Promise<boolean>;
  /** In place of the database's clock. */
  readonly now?: () => Date;
};

/** `Retry-After` while instant keys are paused. */
const pauseSeconds = 3_600;

export function openInstantKeys(options: InstantKeysOptions): InstantKeys {
  const { db, requestsPerMinute, docs, isPaused, now } = options;
  return {
    async create(address) {
      if (await isPaused()) return noInstantKeys;
      const created = await createInstantKey(db, address, now?.() ?? null);
      if ("retryAfterSeconds" in created) {
        const message = `An address gets ${instantKeysPerDay} instant keys per day; its existing keys still work`;
        return { ...reject("rate_limited", message), ...created };
      }
      const { key, expiresAt } = created;
      return { key, type: "instant", requestsPerMinute, expiresAt: expiresAt.toISOString(), docs };
    },
  };
}

/** The answer while instant keys are paused. */
export const noInstantKeys: NoKey = {
  ...reject(
    "instant_keys_paused",
    "Instant keys are paused at present; every endpoint works without one",
  ),
  retryAfterSeconds: pauseSeconds,
};
