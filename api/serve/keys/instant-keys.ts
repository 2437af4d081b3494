import type { Database } from "../../../projections/database.ts";
import { type Rejection, reject } from "../../../projections/domain/rejection.ts";
import { createInstantKey, instantKeysPerDay } from "./create-key.ts";

type InstantKey = {
  readonly key: string;
  readonly type: "instant";
  readonly requestsPerMinute: number;
  readonly expiresAt: string;
  /** Where it is told what to do with it. */
  readonly docs: string;
};

type NoKey = Rejection<"rate_limited"> & { readonly retryAfterSeconds: number };

/** Gives keys to whoever asks from an address. */
export type InstantKeys = { give(address: string): Promise<InstantKey | NoKey> };

export type InstantKeysOptions = {
  readonly db: Database;
  readonly requestsPerMinute: number;
  readonly docs: string;
  /** Whether an operator has stopped them for a while. */
  readonly isPaused: () => Promise<boolean>;
  /** In place of the database's clock. */
  readonly now?: () => Date;
};

/** Seconds after which it is worth asking again while none are given out. */
const pauseSeconds = 3_600;

export function openInstantKeys(options: InstantKeysOptions): InstantKeys {
  const { db, requestsPerMinute, docs, isPaused, now } = options;
  return {
    async give(address) {
      if (await isPaused()) return noInstantKeys;
      const created = await createInstantKey(db, address, now?.() ?? null);
      if ("retryAfterSeconds" in created) {
        const message = `${instantKeysPerDay} instant keys a day are given to one address; those it has still work`;
        return { ...reject("rate_limited", message), ...created };
      }
      const { key, expiresAt } = created;
      return { key, type: "instant", requestsPerMinute, expiresAt: expiresAt.toISOString(), docs };
    },
  };
}

/** What is answered where none are given out. */
export const noInstantKeys: NoKey = {
  ...reject(
    "rate_limited",
    "No instant keys are given out at present; every endpoint works without one",
  ),
  retryAfterSeconds: pauseSeconds,
};
