/** `wei` in parts proportional to `weights` (equal ones if all are zero), the remainder on the first. */
export function apportion(wei: bigint, weights: readonly bigint[]): bigint[] {
  if (weights.length === 1) return [wei];
  const sum = weights.reduce((total, weight) => total + weight, 0n);
  const parts = weights.map((weight) =>
    sum === 0n ? wei / BigInt(weights.length) : (wei * weight) / sum,
  );
  const remainder = wei - parts.reduce((total, part) => total + part, 0n);
  return parts.map((part, index) => (index === 0 ? part + remainder : part));
}
