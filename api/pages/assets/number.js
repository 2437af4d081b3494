const atMost = (digits) => new Intl.NumberFormat("en-US", { maximumFractionDigits: digits });
const [whole, tenths, thousandths] = [atMost(0), atMost(1), atMost(3)];
const significant = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

/** A number as the server writes it. */
export function formatNumber(value) {
  const size = Math.abs(value);
  if (size >= 1e15) return value.toExponential(3);
  if (size >= 100_000) return whole.format(value);
  if (size >= 1_000) return tenths.format(value);
  return (size >= 1 ? thousandths : significant).format(value);
}

/** Wei divided by 10^18, exactly. */
export function formatEther(wei) {
  const digits = wei.padStart(19, "0");
  const part = digits.slice(-18).replace(/0+$/, "");
  return digits.slice(0, -18) + (part === "" ? "" : `.${part}`);
}
