import { dictionary } from "@zxcvbn-ts/language-common";

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
