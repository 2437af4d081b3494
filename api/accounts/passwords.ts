import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";
import { dictionary } from "@zxcvbn-ts/language-common";
import { openTurns } from "#jobs/runner/limits.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";

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
  const turns = openTurns({ atOnce: maxConcurrent });
  const enqueue = async <Result>(work: () => Promise<Result>): Promise<Result | Busy> =>
    turns.waiting() >= maxQueued ? busy : await turns.run("", work);
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

const busy: Busy = {
  ...reject("busy", "Too many sign-ins at the moment; try again in a few seconds"),
  retryAfterSeconds: 5,
};

/** About 50,000 passwords that many people have, from leaked ones; lower case. */
const common: ReadonlySet<string> = new Set(dictionary["passwords-common"]);

/** What must be left of a password besides a known word: shorter than that it is guessed with the word. */
const minBesides = 8;

/** Whether many people have this password, also with digits around it, or written several times. */
export function isCommonPassword(password: string): boolean {
  const lower = password.toLowerCase();
  const word = lower.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  if (startsWithCommon(lower)) return true;
  if (common.has(word) && lower.length - word.length < minBesides) return true;
  const unit = repeatedUnit(lower);
  return unit.length < lower.length && (unit.length < minBesides || common.has(unit));
}

/** A common one, with a few characters more or none. */
const startsWithCommon = (lower: string): boolean =>
  [0, 1, 2, 3, 4].some((more) => common.has(lower.slice(0, lower.length - more)));

/** The shortest text that the whole repeats; itself when there is none. */
function repeatedUnit(text: string): string {
  const length = (text + text).indexOf(text, 1);
  return text.slice(0, length);
}

/** Whether a password is little more than what everybody knows of its owner: the address and its parts. */
export function isOwnName(password: string, email: string): boolean {
  const [local = "", domain = ""] = email.toLowerCase().split("@");
  const parts = [email.toLowerCase(), domain, local, ...local.split(/[^\p{L}\d]+/u)];
  const labels = domain.split(".").slice(0, -1);
  const known = [...parts, ...labels].filter(({ length }) => length >= 4);
  const lower = password.toLowerCase();
  const left = known
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, word) => rest.replaceAll(word, ""), lower);
  return left.length < lower.length && left.length < minBesides;
}
