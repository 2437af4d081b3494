/** Marks that reverse what is shown after them, so that a name or an address reads as another. */
export const bidiMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Untrusted text as one line, safe to store and show: well-formed Unicode of at most `length` characters without control
 * characters or repeated spaces. Numbers become their digits. Null where nothing is left.
 */
export function parseText(value: unknown, length: number): string | null {
  return bounded(textOf(value, length).replaceAll(/[\p{Cc}\s]+/gu, " "), length);
}

/** The same, with line breaks and tabs preserved. */
export function parseLines(value: unknown, length: number): string | null {
  const text = textOf(value, length).replaceAll(/\r\n?/g, "\n");
  return bounded(text.replaceAll(/[^\P{Cc}\n\t]+/gu, " "), length);
}

function textOf(value: unknown, length: number): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  // A character has at most two UTF-16 units: anything beyond `length * 2` is cut off before it is processed.
  return typeof value === "string"
    ? value
        .trimStart()
        .slice(0, length * 2)
        .toWellFormed()
        .replaceAll(bidiMarks, "")
    : "";
}

function bounded(text: string, length: number): string | null {
  const cut = [...text.trim()].slice(0, length).join("").trim();
  return cut === "" ? null : cut;
}
