const boms = [
  { bytes: [0xef, 0xbb, 0xbf], encoding: "utf-8" },
  { bytes: [0xff, 0xfe], encoding: "utf-16le" },
  { bytes: [0xfe, 0xff], encoding: "utf-16be" },
] as const;

/**
 * Text of a document's bytes: by its byte order mark, else UTF-8 where it is that, as JSON has to be, else the encoding
 * that its host says. Bytes that are none of these are replaced, not rejected.
 */
export function decodeText(bytes: Uint8Array, charset?: string): string {
  const mark = boms.find((bom) => bom.bytes.every((byte, at) => bytes[at] === byte));
  const unmarked = mark?.encoding ?? wideEncodingOf(bytes);
  if (unmarked !== null) return new TextDecoder(unmarked).decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return decodeAs(charset, bytes);
  }
}

/** Of two bytes of each letter in a language of ASCII one is zero. */
function wideEncodingOf([first, second, third, fourth]: Uint8Array):
  | "utf-16le"
  | "utf-16be"
  | null {
  if (first === 0 && second !== 0 && third === 0 && fourth !== 0) return "utf-16be";
  return first !== 0 && second === 0 && third !== 0 && fourth === 0 ? "utf-16le" : null;
}

/** As UTF-8 where the encoding is not known. */
function decodeAs(charset: string | undefined, bytes: Uint8Array): string {
  try {
    return new TextDecoder(charset?.replace(/["'\s]/g, "")).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
