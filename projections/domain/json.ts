/** `integers`: only whole numbers are kept exact; decimals are rounded to doubles, as those who compute with them expect. */
type Exactness = "all" | "integers";

/** A string, which also may lack its end, or what looks like a number. */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/gs;
/** Without such a number a double loses no digit. */
const longNumber = /\d[\d.]{15}|\d[eE][+-]?\d{3}/;

/** `JSON.parse`, but numbers that a double does not hold become the text of their digits. Throws `SyntaxError`. */
export function parseJson(text: string, exactness: Exactness = "all"): unknown {
  return JSON.parse(longNumber.test(text) ? quoteLongNumbers(text, exactness) : text);
}

/** The same of JSON that somebody wrote by hand: see `repairJson`. Undefined where that is no JSON either. */
export function parseHandmadeJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    const repaired = repairJson(text);
    return repaired === null ? undefined : parseOrNothing(repaired);
  }
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function quoteLongNumbers(text: string, exactness: Exactness): string {
  return text.replace(stringOrNumber, (token) => {
    if (token.startsWith('"') || !isJsonNumber(token)) return token;
    if (exactness === "integers" && !/^-?\d+$/.test(token)) return token;
    return typeof exactNumber(token) === "string" ? `"${token}"` : token;
  });
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const whole = /^-?\d+$/;

/** Whether JSON may write a number so. */
const isJsonNumber = (text: string): boolean => jsonNumber.test(text);

/**
 * A number as a double where that holds every digit of it, else as the text that was written. An exponent beyond all
 * doubles gives Infinity, as in `JSON.parse`.
 */
export function exactNumber(text: string): number | string {
  const value = Number(text);
  if (whole.test(text)) return Number.isSafeInteger(value) ? value : text;
  if (!Number.isFinite(value)) return value;
  return digitsOf(text) === digitsOf(String(value)) ? value : text;
}

/** Sign, significant digits and exponent: the same for numbers of the same value. */
function digitsOf(text: string): string {
  const [, sign = "", before = "", after = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (before + after).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  const scale = Number(exponent) - after.length + digits.length - significant.length;
  return `${sign}${significant}e${scale}`;
}

/** A string, which may lack its end; a mark; space; or anything else up to the next of these. */
const tokens =
  /"[^"\\]*(?:\\.[^"\\]*)*("?)|[{}[\],:]|[\s\p{Cc}\p{Cf}]+|[^\s\p{Cc}\p{Cf}"{}[\],:]+/gsu;
/** Space, and what people do not see: control characters, byte order marks, characters without width. */
const blank = /^[\s\p{Cc}\p{Cf}]/u;
const beforeColon = /^[\s\p{Cc}\p{Cf}]*:/u;
/** What stands before a document or after it without saying anything: marks of another language, space, control characters. */
const leadingMarks = /^[^{["\w]{1,16}(?=[{[])|^[\s\p{Cc}\p{Cf}]+/u;
const trailingMark = /^[\s;,)}\]\p{Cc}\p{Cf}]+$/u;

const keptWords = new Set(["true", "false", "null"]);
const emptyWords = new Set(["NaN", "Infinity", "-Infinity", "undefined"]);
const identifier = /^[A-Za-z_$][\w$-]*$/;

/**
 * JSON as `JSON.parse` takes it, of a document whose author wrote the text by hand, as contracts do: control characters
 * and single backslashes in strings, invisible characters between tokens, commas too many or missing between objects, a missing value, numbers with leading
 * zeros, names without quotes, marks around the document. Null where more than one reading is possible, as with a quote
 * inside a string.
 */
function repairJson(text: string): string | null {
  const writer = createWriter();
  const body = text.replace(leadingMarks, "");
  for (const match of body.matchAll(tokens)) {
    const isTaken = writer.isComplete()
      ? trailingMark.test(match[0])
      : writeToken(writer, match, body);
    if (!isTaken) return null;
  }
  return writer.isComplete() ? writer.text() : null;
}

function writeToken(writer: Writer, match: RegExpExecArray, body: string): boolean {
  const [token, closingQuote] = match;
  if (blank.test(token)) return true;
  if (token.startsWith('"')) return closingQuote !== "" && writer.write(repairString(token));
  const end = match.index + token.length;
  const isName = !writer.awaitsValue() && beforeColon.test(body.slice(end, end + 8));
  const written = writtenToken(token, isName);
  return written !== null && writer.write(written);
}

function writtenToken(token: string, isName: boolean): string | null {
  if ("{}[],:".includes(token) || keptWords.has(token)) return token;
  if (isName) return identifier.test(token) ? `"${token}"` : null;
  if (emptyWords.has(token)) return "null";
  if (isJsonNumber(token)) return typeof exactNumber(token) === "string" ? `"${token}"` : token;
  // Such as 007: a text, as its zeros would be lost.
  return /^[+-]?\.?\d[\w.+-]*$/.test(token) ? `"${token}"` : null;
}

/** A backslash before a quote of another language escapes it; any other that is no escape is a backslash. */
function repairString(token: string): string {
  return token.replace(/\p{Cc}|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|.)/gsu, (part: string) => {
    if (!part.startsWith("\\")) return escapeControls(part);
    const character = part.slice(1);
    if (/^["\\/bfnrt]$|^u./.test(character)) return part;
    if (character === "'" || character === "`") return character;
    return `\\\\${escapeControls(character)}`;
  });
}

const escapeControls = (character: string) => JSON.stringify(character).slice(1, -1);

type Writer = ReturnType<typeof createWriter>;

/** Writes tokens in order, and puts commas and missing values where they belong. */
function createWriter() {
  const written: string[] = [];
  const open: string[] = [];
  let last = "";
  let isCommaDue = false;

  function push(token: string): void {
    written.push(token);
    last = token;
  }

  function writeClosing(token: string): boolean {
    isCommaDue = false;
    const isOpen = open.pop() === (token === "}" ? "{" : "[");
    push(token);
    return isOpen;
  }

  function writeValue(token: string): void {
    const isAfterValue = last !== "" && !"{[:".includes(last);
    const isNextObject = last === "}" && token === "{" && open.at(-1) === "[";
    if (isAfterValue && (isCommaDue || isNextObject)) written.push(",");
    isCommaDue = false;
    if (token === "{" || token === "[") open.push(token);
    push(token);
  }

  return {
    /** Returns whether the token may stand here. */
    write(token: string): boolean {
      const isClosing = token === "}" || token === "]";
      if (last === ":" && (isClosing || token === ",")) push("null");
      if (isClosing) return writeClosing(token);
      if (token === ",") isCommaDue = true;
      else writeValue(token);
      return true;
    },
    awaitsValue: () => last === ":",
    isComplete: () => open.length === 0 && (last === "}" || last === "]"),
    // Apart, so that two numbers side by side do not become one.
    text: () => written.join(" "),
  };
}
