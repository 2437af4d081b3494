/** Marks that reverse what is shown after them, so that a name or an address reads as another. */
export const bidiMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Called where a limit leaves something out, with what it is. */
export type OnLimit = (note: string) => void;
const ignore: OnLimit = () => undefined;

/**
 * Untrusted text as one line, safe to store and show: well-formed Unicode of at most `length` characters without control
 * characters or repeated spaces. Numbers become their digits. Null where nothing is left.
 */
export function parseText(value: unknown, length: number, onLimit = ignore): string | null {
  const text = textOf(value, length, onLimit).replaceAll(/[\p{Cc}\s]+/gu, " ");
  return bounded(text, length, onLimit);
}

/** The same, with line breaks and tabs preserved. */
export function parseLines(value: unknown, length: number, onLimit = ignore): string | null {
  const text = textOf(value, length, onLimit).replaceAll(/\r\n?/g, "\n");
  return bounded(text.replaceAll(/[^\P{Cc}\n\t]+/gu, " "), length, onLimit);
}

function textOf(value: unknown, length: number, onLimit: OnLimit): string {
  if (typeof value === "boolean" || Number.isFinite(value)) return String(value);
  if (typeof value !== "string") return "";
  const text = value.trim();
  // A character has at most two UTF-16 units: anything beyond `length * 2` is cut off before it is processed.
  if (text.length > length * 2) onLimit(cutTo(length));
  return text
    .slice(0, length * 2)
    .toWellFormed()
    .replaceAll(bidiMarks, "");
}

function bounded(text: string, length: number, onLimit: OnLimit): string | null {
  const characters = [...text.trim()];
  if (characters.length > length) onLimit(cutTo(length));
  const cut = characters.slice(0, length).join("").trim();
  return cut === "" ? null : cut;
}

const cutTo = (length: number) => `cut to ${length} characters`;
