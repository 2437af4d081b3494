const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const whole = /^-?\d+$/;

/** Whether JSON may write a number so. */
export const isJsonNumber = (text: string): boolean => jsonNumber.test(text);

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
