import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { type Rejection, reject } from "../../../projections/domain/rejection.ts";

/** Argon2id, which needs 19 MiB and some 20 ms for each password. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** More at a time would take the threads that everything else in the process shares. */
const mostAtOnce = 2;
const mostWaiting = 50;

export type Busy = Rejection<"busy"> & { readonly retryAfterSeconds: number };

export type Passwords = {
  hash(password: string): Promise<string | Busy>;
  /** Whether it is the one; without one that is kept the work is the same. */
  matches(password: string, kept: string | null): Promise<boolean | Busy>;
};

export const shortestPassword = 12;
const longestPassword = 200;

/** A password as it is hashed: of one form however its letters were typed. */
export function passwordOf(text: string): string | Rejection<"bad_password"> {
  const password = text.normalize("NFKC");
  const { length } = [...password];
  if (length < shortestPassword)
    return reject("bad_password", `Choose ${shortestPassword} characters or more`);
  if (length > longestPassword)
    return reject("bad_password", `Choose ${longestPassword} characters or fewer`);
  if (new Set(password).size < 5)
    return reject("bad_password", "Choose one with more different characters");
  return password;
}

export function openPasswords(): Passwords {
  const inTurn = openQueue();
  const decoy = hash(randomBytes(32), cost);
  // Whoever asks for it sees that it failed.
  decoy.catch(() => {});
  return {
    hash: (password) => inTurn(() => hash(password, cost)),
    matches: (password, kept) =>
      inTurn(async () => {
        const isRight = await verify(kept ?? (await decoy), password.normalize("NFKC"));
        return isRight && kept !== null;
      }),
  };
}

/** A few at a time, some in a queue, and no more than that. */
function openQueue() {
  const waiting: (() => void)[] = [];
  let working = 0;
  return async <Result>(work: () => Promise<Result>): Promise<Result | Busy> => {
    if (working === mostAtOnce) {
      if (waiting.length === mostWaiting) return busy;
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
  ...reject("busy", "Too many people sign in at this moment; try again in a few seconds"),
  retryAfterSeconds: 5,
};
