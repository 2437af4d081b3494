import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import { isCommonPassword, isOwnName } from "./common-passwords.ts";

/** Argon2id; about 19 MiB and 20 ms per password. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashing more at a time would block the thread pool that the whole process shares. */
const maxConcurrent = 2;
const maxQueued = 50;

export type Busy = Rejection<"busy"> & { readonly retryAfterSeconds: number };

export type Passwords = {
  hash(password: string): Promise<string | Busy>;
  /** Whether the password matches; without a stored hash the work is the same. */
  matches(password: string, kept: string | null): Promise<boolean | Busy>;
};

export const minPasswordLength = 12;
const maxPasswordLength = 200;

/** A password in the form that is hashed: Unicode NFKC, so that it does not depend on the keyboard. */
export function parsePassword(text: string, email: string): string | Rejection<"bad_password"> {
  const password = text.normalize("NFKC");
  const { length } = [...password];
  if (length < minPasswordLength)
    return reject("bad_password", `Choose ${minPasswordLength} characters or more`);
  if (length > maxPasswordLength)
    return reject("bad_password", `Choose ${maxPasswordLength} characters or fewer`);
  if (new Set(password).size < 5) return reject("bad_password", "Use more different characters");
  if (isCommonPassword(password))
    return reject("bad_password", "Many people use this password: choose another");
  if (isOwnName(password, email))
    return reject("bad_password", "This is too close to your e-mail address: choose another");
  return password;
}

export function openPasswords(): Passwords {
  const enqueue = openQueue();
  const dummyHash = hash(randomBytes(32), cost);
  // A failure is thrown where the hash is awaited.
  dummyHash.catch(() => {});
  return {
    hash: (password) => enqueue(() => hash(password, cost)),
    matches: (password, kept) =>
      enqueue(async () => {
        const isRight = await verify(kept ?? (await dummyHash), password.normalize("NFKC"));
        return isRight && kept !== null;
      }),
  };
}

/** Runs a bounded number of tasks at a time, with a bounded queue. */
function openQueue() {
  const waiting: (() => void)[] = [];
  let working = 0;
  return async <Result>(work: () => Promise<Result>): Promise<Result | Busy> => {
    if (working === maxConcurrent) {
      if (waiting.length === maxQueued) return busy;
      await new Promise<void>((begin) => waiting.push(begin));
    } else {
      working += 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) working -= 1;
      else next();
    }
  };
}

const busy: Busy = {
  ...reject("busy", "Too many sign-ins at the moment; try again in a few seconds"),
  retryAfterSeconds: 5,
};
