import { exactNumber, isJsonNumber } from "./exact-number.ts";
import { repairJson } from "./repair-json.ts";

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
