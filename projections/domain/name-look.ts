import { lookAlikes } from "./look-alikes.ts";

/** Of a long name the beginning is compared. */
const comparedLength = 60;

/** What is not shown, and marks that any letter may carry. Vowel signs of a script are letters of it, and stay. */
const unseen = /[\p{Default_Ignorable_Code_Point}\p{Script=Inherited}\p{Me}]/gu;
const neitherLetterNorDigit = /[^\p{L}\p{N}\p{M}]/gu;

const looks = new Map(
  Object.entries(lookAlikes).flatMap(([look, letters]) =>
    [...letters].map((letter) => [letter, look] as const),
  ),
);

const replaced = (text: string): string =>
  Array.from(text, (letter) => looks.get(letter) ?? letter).join("");

/**
 * What a name looks like: the same for names that a reader takes for one another. The skeleton of UTS #39, but for case,
 * marks, spacing, punctuation and signs, which make no other name either. Null without a letter or digit.
 */
export function nameLook(name: string): string | null {
  const plain = name.normalize("NFKD").replaceAll(unseen, "");
  const seen = replaced(replaced(plain).toLowerCase().normalize("NFKD").replaceAll(unseen, ""));
  const look = [...seen.replaceAll(neitherLetterNorDigit, "")].slice(0, comparedLength).join("");
  return look === "" ? null : look;
}
