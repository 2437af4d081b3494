/** A number, or, where chains have logs of their own, one by chain: `1=120,33139=455`. */
function positionOf(chainId: unknown, text: string): bigint | undefined {
  const named = text.split(",").map((entry) => entry.split("="));
  const own = named.find(([chain, position]) => position !== undefined && chain === `${chainId}`);
  const position = own?.[1] ?? text;
  return /^\d{1,18}$/.test(position) ? BigInt(position) : undefined;
}

/** How far the data must be that answers are made from, by chain: what was posted is in them. */
export function openWritten() {
  const positions = new Map<unknown, bigint>();
  return {
    headers(chainId: unknown): Record<string, string> {
      const position = positions.get(chainId);
      return position === undefined ? {} : { "X-Min-Position": `${position}` };
    },
    note(chainId: unknown, text: string | null): void {
      const position = positionOf(chainId, text ?? "");
      if (position === undefined) return;
      if (position > (positions.get(chainId) ?? 0n)) positions.set(chainId, position);
    },
  };
}
