import { z } from "zod";

/** What is below one wei: a lower bound is rounded up, an upper one down, so that both mean what they say. */
type Rounding = "up" | "down";

const decimals = 18;
const weiDigits = 78;

/** A decimal number as JSON, HTML forms and people write it: `1.25`, `.5`, `1e-7`. Undefined: it is none, or too large. */
function weiOf(text: string, rounding: Rounding): bigint | undefined {
  const [, whole = "", fraction = "", exponent = "0"] =
    /^(?=\.?\d)(\d{0,78})\.?(\d{0,400})(?:e([+-]?\d{1,3}))?$/i.exec(text) ?? [];
  if (whole + fraction === "") return undefined;
  const shift = decimals + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return 0n;
  if (shift >= 0) {
    if (shift > weiDigits) return undefined;
    return bounded(digits * 10n ** BigInt(shift));
  }
  const unit = 10n ** BigInt(-shift);
  const isExact = digits % unit === 0n;
  return bounded(digits / unit + (rounding === "up" && !isExact ? 1n : 0n));
}

const bounded = (wei: bigint) => (wei < 10n ** BigInt(weiDigits) ? wei : undefined);

const toWei = (rounding: Rounding) => (text: string, context: z.RefinementCtx) => {
  const wei = weiOf(text, rounding);
  if (wei !== undefined) return wei;
  context.addIssue({ code: "custom", message: "must be a price such as 1.25" });
  return z.NEVER;
};

/** Wei, from a query parameter in ETH or APE. */
export const nativeAmount = (rounding: Rounding) =>
  z
    .string()
    .transform(toWei(rounding))
    .meta({ override: { type: "number", minimum: 0 } });

/** Wei, from a field of a body in ETH or APE. A JSON number counts as its shortest decimal form. */
export const maxNativeAmount = z
  .union([z.string(), z.number()])
  .transform((value, context) => toWei("down")(String(value), context));
