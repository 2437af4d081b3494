/**
 * Text of strangers made fit to store and show: well-formed Unicode of at most `length` characters in one line,
 * words a blank apart, without control characters. A number is taken for its digits. Null where nothing is left.
 */
export function parseText(value: unknown, length: number): string | null {
  return bounded(textOf(value, length).replaceAll(/[\p{Cc}\s]+/gu, " "), length);
}

/** The same of several lines. */
export function parseLines(value: unknown, length: number): string | null {
  const text = textOf(value, length).replaceAll(/\r\n?/g, "\n");
  return bounded(text.replaceAll(/[^\P{Cc}\n\t]+/gu, " "), length);
}

function textOf(value: unknown, length: number): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  // A character has two units at most; what is beyond twice that is not looked at, blanks before it aside.
  return typeof value === "string"
    ? value
        .trimStart()
        .slice(0, length * 2)
        .toWellFormed()
    : "";
}

function bounded(text: string, length: number): string | null {
  const kept = [...text.trim()].slice(0, length).join("").trim();
  return kept === "" ? null : kept;
}
